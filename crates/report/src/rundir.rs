//! The run directory: where everything a run produces is put, each file whole or not at all.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::diagnostic::Diagnostic;
use crate::error::{ReportError, Result};
use crate::json;
use crate::ktest::KTest;
use crate::lcov::{self, Coverage};
use crate::model::{ErrorRecord, Prediction, TestCase, TestId};
use crate::pack::{PackReader, PackWriter};
use crate::runinfo::RunInfo;
use crate::summary::{Summary, Timing};
use crate::testcomp::{self, SuiteMetadata};

/// Link to the newest run.
pub const LAST: &str = "pleach-last";
const PACK: &str = "tests.pack";
const SUITE: &str = "test-suite";
const RESULT: &str = "result.txt";

/// A run's directory, for writing or reading. Clones write to the same archive.
#[derive(Clone, Debug)]
pub struct RunDir {
    path: PathBuf,
    pack: Arc<Mutex<Option<PackWriter>>>,
}

impl std::fmt::Debug for PackWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PackWriter")
    }
}

impl RunDir {
    /// The given directory, which must be new or empty, or a fresh `pleach-out-N` below the current one
    /// with the link `pleach-last` pointing to it.
    pub fn create(given: Option<&Path>) -> Result<Self> {
        match given {
            Some(path) => Self::create_at(path),
            None => Self::create_below(Path::new(".")),
        }
    }

    fn create_at(path: &Path) -> Result<Self> {
        fs::create_dir_all(path).map_err(ReportError::io("create", path))?;
        let mut entries = fs::read_dir(path).map_err(ReportError::io("read", path))?;
        if entries.next().is_some() {
            return Err(ReportError::NotEmpty(path.to_owned()));
        }
        Self::prepare(path)
    }

    /// A fresh `pleach-out-N` in `parent`.
    pub fn create_below(parent: &Path) -> Result<Self> {
        let entries = fs::read_dir(parent).map_err(ReportError::io("read", parent))?;
        let number = |name: String| name.strip_prefix("pleach-out-")?.parse::<u64>().ok();
        let used = entries.flatten().filter_map(|e| number(e.file_name().to_string_lossy().into_owned()));
        let mut n = used.max().map_or(0, |n| n.saturating_add(1));
        loop {
            let name = format!("pleach-out-{n}");
            let path = parent.join(&name);
            match fs::create_dir(&path) {
                Ok(()) => {
                    link_last(parent, &name)?;
                    let path = if parent == Path::new(".") { PathBuf::from(name) } else { path };
                    return Self::prepare(&path);
                }
                // Another run took the number at the same moment.
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => n += 1,
                Err(e) => return Err(ReportError::io("create", &path)(e)),
            }
        }
    }

    /// Removes the directory with all that was written.
    pub fn remove(self) -> Result<()> {
        fs::remove_dir_all(&self.path).map_err(ReportError::io("remove", &self.path))
    }

    fn prepare(path: &Path) -> Result<Self> {
        let suite = path.join(SUITE);
        fs::create_dir(&suite).map_err(ReportError::io("create", &suite))?;
        Ok(Self { path: path.to_owned(), pack: Arc::default() })
    }

    /// An existing run, for reading.
    pub fn open(path: &Path) -> Result<Self> {
        let not_a_run = |why: &str| ReportError::NotARun { path: path.to_owned(), why: why.into() };
        if !path.is_dir() {
            return Err(not_a_run("there is no such directory"));
        }
        if !path.join("run.json").is_file() {
            return Err(not_a_run("it has no run.json"));
        }
        Ok(Self { path: path.to_owned(), pack: Arc::default() })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A file of this directory.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Writes a file whole: under a temporary name first, then renamed.
    pub fn write(&self, name: &str, contents: &[u8]) -> Result<()> {
        write_atomically(&self.file(name), contents)
    }

    fn write_json<T: Serialize>(&self, name: &str, value: &T) -> Result<()> {
        let path = self.file(name);
        let mut text = serde_json::to_vec_pretty(value).map_err(ReportError::json(&path))?;
        text.push(b'\n');
        write_atomically(&path, &text)
    }

    fn read_json<T: DeserializeOwned>(&self, name: &str) -> Result<T> {
        let path = self.file(name);
        let text = fs::read(&path).map_err(ReportError::io("read", &path))?;
        serde_json::from_slice(&text).map_err(ReportError::json(&path))
    }

    /// How many tests are files.
    pub fn files(&self) -> u64 {
        let entries = fs::read_dir(&self.path).into_iter().flatten().flatten();
        entries.filter(|e| Path::new(&e.file_name()).extension().is_some_and(|x| x == "ktest")).count() as u64
    }

    /// Writes a test as `.ktest`, `.json` and suite XML, and for an error its `.err` text.
    pub fn write_test(&self, test: &TestCase, error: Option<&ErrorRecord>) -> Result<()> {
        let stem = test.id.stem();
        if let Some(error) = error {
            let text = Diagnostic::new(error).with_test(test).render();
            self.write(&format!("{stem}.{}.err", error.kind), text.as_bytes())?;
        } else if let Prediction::Error { kind, file, line, message } = &test.predicted {
            let text = format!("error[{kind}]: {message}\n --> {file}:{line}\n");
            self.write(&format!("{stem}.{kind}.err"), text.as_bytes())?;
        }
        self.write(&format!("{SUITE}/{stem}.xml"), testcomp::testcase(test).as_bytes())?;
        self.write(&format!("{stem}.json"), json::to_string(test).as_bytes())?;
        self.write(&format!("{stem}.ktest"), &KTest::from(test).to_bytes())
    }

    /// Writes a test that is known by its number as files, unless they are there.
    pub fn keep_test(&self, test: &TestCase) -> Result<()> {
        if self.file(&format!("{}.ktest", test.id.stem())).exists() { Ok(()) } else { self.write_test(test, None) }
    }

    /// Adds a test to the archive; see [`PackWriter::push`] for when it is on disk.
    pub fn pack_test(&self, test: &TestCase) -> Result<()> {
        let mut pack = self.pack.lock().unwrap_or_else(|e| e.into_inner());
        let writer = match &mut *pack {
            Some(writer) => writer,
            none => none.insert(PackWriter::create(&self.file(PACK))?),
        };
        writer.push(test)
    }

    /// Hands all archived tests to the operating system.
    pub fn flush(&self) -> Result<()> {
        match &mut *self.pack.lock().unwrap_or_else(|e| e.into_inner()) {
            Some(writer) => writer.flush(),
            None => Ok(()),
        }
    }

    /// Writes `run.json` and the human-readable `info`.
    pub fn write_run_info(&self, info: &RunInfo) -> Result<()> {
        self.write_json("run.json", info)?;
        let text = format!("{}\n{}\n", info.command.join(" "), info.directory.display());
        self.write("info", text.as_bytes())
    }

    /// Writes `summary.json`.
    pub fn write_summary(&self, summary: &Summary) -> Result<()> {
        self.flush()?;
        self.write_json("summary.json", summary)
    }

    /// Writes `timing.json`.
    pub fn write_timing(&self, timing: &Timing) -> Result<()> {
        self.write_json("timing.json", timing)
    }

    /// Writes `coverage.info`.
    pub fn write_coverage(&self, coverage: &Coverage) -> Result<()> {
        self.write("coverage.info", coverage.to_lcov().as_bytes())
    }

    /// Writes the suite's `metadata.xml`.
    pub fn write_suite_metadata(&self, meta: &SuiteMetadata) -> Result<()> {
        self.write(&format!("{SUITE}/metadata.xml"), testcomp::metadata(meta).as_bytes())
    }

    /// Reads `run.json`.
    pub fn run_info(&self) -> Result<RunInfo> {
        self.read_json("run.json")
    }

    /// Reads `summary.json`.
    pub fn summary(&self) -> Result<Summary> {
        self.read_json("summary.json")
    }

    /// Reads `timing.json`.
    pub fn timing(&self) -> Result<Timing> {
        self.read_json("timing.json")
    }

    /// Reads `coverage.info`; nothing is covered where there is none.
    pub fn coverage(&self) -> Result<Coverage> {
        let path = self.file("coverage.info");
        match fs::read(&path) {
            Ok(text) => Ok(lcov::read(&String::from_utf8_lossy(&text))),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Coverage::default()),
            Err(e) => Err(ReportError::io("read", &path)(e)),
        }
    }

    /// What the command said at the end, as it is on the terminal; `None` if the run did not come to its end.
    pub fn result_text(&self) -> Option<String> {
        fs::read(self.file(RESULT)).ok().map(|text| String::from_utf8_lossy(&text).into_owned())
    }

    /// Keeps what the command says at the end.
    pub fn write_result_text(&self, text: &str) -> Result<()> {
        self.write(RESULT, text.as_bytes())
    }

    /// Reads one test that was written as files.
    pub fn read_test(&self, id: TestId) -> Result<TestCase> {
        let path = self.file(&format!("{}.json", id.stem()));
        let text = fs::read_to_string(&path).map_err(ReportError::io("read", &path))?;
        json::from_str(&text)
    }

    /// All tests by id, from files and from the archive, as far as they can be read.
    pub fn tests(&self) -> Result<Vec<TestCase>> {
        Ok(self.readable_tests()?.0)
    }

    /// The same, and what could not be read, in sentences.
    pub fn readable_tests(&self) -> Result<(Vec<TestCase>, Vec<String>)> {
        self.flush()?;
        let (mut all, mut damage) = (BTreeMap::new(), Vec::new());
        let pack = self.file(PACK);
        if pack.is_file() {
            let packed = PackReader::open(&pack).map(|tests| {
                for test in tests {
                    match test {
                        Ok(test) => drop(all.insert(test.id, test)),
                        Err(why) => damage.push(format!("{PACK} is read up to where it is damaged: {why}")),
                    }
                }
            });
            damage.extend(packed.err().map(|why| why.to_string()));
        }
        self.add_tests_in_files(&mut all, &mut damage)?;
        Ok((all.into_values().collect(), damage))
    }

    /// The tests that are files, by id, as far as they can be read.
    pub fn tests_in_files(&self) -> Result<Vec<TestCase>> {
        let (mut all, mut damage) = (BTreeMap::new(), Vec::new());
        self.add_tests_in_files(&mut all, &mut damage)?;
        Ok(all.into_values().collect())
    }

    fn add_tests_in_files(&self, all: &mut BTreeMap<TestId, TestCase>, damage: &mut Vec<String>) -> Result<()> {
        let entries = fs::read_dir(&self.path).map_err(ReportError::io("read", &self.path))?;
        for entry in entries {
            let name = entry.map_err(ReportError::io("read", &self.path))?.file_name();
            let name = name.to_string_lossy();
            if let (Some(id), true) = (TestId::from_file_name(&name), name.ends_with(".json")) {
                match self.read_test(id) {
                    Ok(test) => drop(all.insert(id, test)),
                    Err(why) => damage.push(format!("{name}: {why}")),
                }
            }
        }
        Ok(())
    }

    /// Writes a test that is in the archive also as `.ktest`. The directory is the run's own and the file new, so it
    /// takes no detour; one that could not be written whole goes away again.
    pub fn write_ktest(&self, test: &TestCase) -> Result<()> {
        let path = self.file(&format!("{}.ktest", test.id.stem()));
        let written = fs::File::create_new(&path).and_then(|mut f| f.write_all(&KTest::from(test).to_bytes()));
        written.inspect_err(|_| drop(fs::remove_file(&path))).map_err(ReportError::io("write", &path))
    }

    /// Writes every archived test as files next to the others; the number of tests written.
    pub fn export_all(&self) -> Result<u64> {
        self.flush()?;
        let pack = self.file(PACK);
        let mut count = 0;
        if pack.is_file() {
            for test in PackReader::open(&pack)? {
                self.write_test(&test?, None)?;
                count += 1;
            }
        }
        Ok(count)
    }
}

/// Whole or not at all: a reader never sees half a file.
pub fn write_atomically(path: &Path, contents: &[u8]) -> Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".tmp");
    let temporary = path.with_file_name(name);
    let write = || {
        fs::File::create(&temporary)?.write_all(contents)?;
        fs::rename(&temporary, path)
    };
    write().inspect_err(|_| drop(fs::remove_file(&temporary))).map_err(ReportError::io("write", path))
}

/// Points `pleach-last` to the new run; something else of that name is left alone.
fn link_last(parent: &Path, target: &str) -> Result<()> {
    let link = parent.join(LAST);
    let replaceable = fs::symlink_metadata(&link).map_or(true, |m| m.is_symlink());
    if !replaceable {
        return Ok(());
    }
    let temporary = parent.join(format!(".{LAST}-{target}"));
    let _ = fs::remove_file(&temporary);
    let linked = std::os::unix::fs::symlink(target, &temporary).and_then(|()| fs::rename(&temporary, &link));
    linked.map_err(ReportError::io("create", &link))
}

#[cfg(test)]
#[path = "rundir_tests.rs"]
mod tests;
