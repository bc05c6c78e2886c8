//! What was compiled before: bitcode of single sources, and whole programs.
//!
//! *Idea*: A result is found by a digest of all it is made from. For C and C++ that is the text behind the preprocessor,
//! each file that the compiler reads, its version, its search path and its options as it says them itself (`clang -v`),
//! our own options and our own executable. So a header that changes, that is found elsewhere or comes into existence
//! gives another digest. For Rust it is each file that the last compilation read.
//!
//! *Invariant*: equal digests, equal bytes. A file that was changed while it was compiled keeps nothing.
//!
//! *Direction*: what cannot be told makes no digest, and is compiled.

mod digest;
mod store;

use crate::input::{self, Language, side_by_side};
use crate::{Options, clang, rust};
use digest::{Builder, Digest};
use pleach_load::rust::is_rust;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use store::Store;

/// What is known of a request before anything is compiled.
pub(crate) struct Known {
    store: Store,
    began: SystemTime,
    /// of each input
    inputs: Vec<Option<Made>>,
    program: Option<Digest>,
}

/// What a result is made from.
struct Made {
    digest: Digest,
    files: Vec<PathBuf>,
}

/// Clocks of files are this coarse.
const COARSE: Duration = Duration::from_millis(100);

/// Options by which clang reads what the preprocessor does not see.
const READS_MORE: [&str; 9] =
    ["@", "-Xclang", "-fplugin", "-fpass-plugin", "-fprofile", "-fmodule", "-include-pch", "--config", "-load"];

impl Known {
    /// `None`: nothing is kept for this request.
    pub fn of(options: &Options) -> Option<Known> {
        let directory = options.cache.as_deref()?;
        let began = SystemTime::now();
        let store = Store::at(directory)?;
        let inputs = side_by_side(options.inputs.len(), &|i| made(i, options, &store));
        let program = program(&inputs, options);
        Some(Known { store, began, inputs, program })
    }

    /// The answer to the same request.
    pub fn program(&self) -> Option<Vec<u8>> {
        self.store.get(self.program.as_ref()?)
    }

    pub fn keep_program(&self, options: &Options, reply: &[u8]) {
        // Which files a Rust program has is known behind its compilation.
        let again = || -> Vec<Option<Made>> {
            (0..options.inputs.len()).map(|i| made_again(&self.inputs[i], i, options, &self.store)).collect()
        };
        let now = again();
        if let Some(digest) = program(&now, options).filter(|_| now.iter().flatten().all(|m| self.is_settled(m))) {
            self.store.put(&digest, reply);
        }
    }

    /// The bitcode of the input of this index, and what the compiler said of it.
    pub fn bitcode(&self, index: usize) -> Option<(Vec<u8>, Vec<String>)> {
        let kept = self.store.get(&self.inputs[index].as_ref()?.digest)?;
        let end = kept.iter().position(|b| *b == 0)?;
        let remarks = std::str::from_utf8(&kept[..end]).ok()?;
        Some((kept[end + 1..].to_vec(), remarks.lines().map(str::to_owned).collect()))
    }

    pub fn keep_bitcode(&self, index: usize, bitcode: &[u8], remarks: &[String]) {
        if let Some(made) = self.inputs[index].as_ref().filter(|m| self.is_settled(m)) {
            let said = remarks.join("\n").replace('\0', " ");
            self.store.put(&made.digest, &[said.as_bytes(), &[0], bitcode].concat());
        }
    }

    /// What a compilation of Rust says that it read: a rule for `make`.
    pub fn keep_files(&self, source: &Path, options: &Options, rule: &[u8]) {
        if let Some(place) = of_crate(source, options) {
            self.store.put(&place, rule);
        }
    }

    /// SOUND: no file was changed since before the digest was made, so the compiler saw what the digest is of. Nobody
    /// else writes into our own directory.
    fn is_settled(&self, made: &Made) -> bool {
        let Some(before) = self.began.checked_sub(COARSE) else { return false };
        made.files.iter().all(|f| digest::changed(f).is_some_and(|at| at < before))
    }
}

/// All inputs in their order, the C library, and how they become one program.
fn program(inputs: &[Option<Made>], options: &Options) -> Option<Digest> {
    if options.assembly.is_some() || inputs.is_empty() {
        return None;
    }
    let mut all = Builder::new("program", options)?;
    for input in inputs {
        all = all.part(input.as_ref()?.digest.as_bytes());
    }
    if let Some(library) = &options.library {
        all = all.identity(&library.archive)?;
    }
    Some(all.finish())
}

fn made(index: usize, options: &Options, store: &Store) -> Option<Made> {
    let path = &options.inputs[index];
    match input::language(path).ok()? {
        Language::Rust => made_of_rust(path, options, store),
        Language::Llvm(_) => made_of_files("file", &[], vec![path.clone()], options),
        Language::C if options.cc_args.iter().any(|a| READS_MORE.iter().any(|r| a.starts_with(r))) => None,
        Language::C => {
            let text = clang::text(path, index, options)?;
            let seen = [path.as_os_str().as_encoded_bytes(), &text.seen[0], &text.seen[1]];
            made_of_files("source", &seen, text.files, options)
        }
    }
}

fn made_again(before: &Option<Made>, index: usize, options: &Options, store: &Store) -> Option<Made> {
    match before {
        Some(m) => Some(Made { digest: m.digest.clone(), files: m.files.clone() }),
        None if is_rust(&options.inputs[index]) => made(index, options, store),
        None => None,
    }
}

fn made_of_files(what: &str, parts: &[&[u8]], files: Vec<PathBuf>, options: &Options) -> Option<Made> {
    let mut all = Builder::new(what, options)?;
    for part in parts {
        all = all.text(part);
    }
    for file in &files {
        all = all.text(file.as_os_str().as_encoded_bytes()).part(&std::fs::read(file).ok()?);
    }
    let files = files.into_iter().filter(|f| !f.starts_with(&options.work_dir)).collect();
    Some(Made { digest: all.finish(), files })
}

/// Where the files of a Rust program are kept.
fn of_crate(source: &Path, options: &Options) -> Option<Digest> {
    // Libraries that it is linked with are not among the files that it says it reads.
    let linked = |a: &String| a.starts_with("-L") || a.starts_with("--extern") || a.starts_with('@');
    if options.cc_args.iter().any(linked) {
        return None;
    }
    let all = Builder::new("crate", options)?.text(source.as_os_str().as_encoded_bytes());
    Some(all.part(rust::version().as_bytes()).finish())
}

/// Where a module may lie is fixed, and so are the names of files that a source includes: which files are read depends
/// on these files alone. Two places for one module are an error of the compiler's.
fn made_of_rust(source: &Path, options: &Options, store: &Store) -> Option<Made> {
    let place = of_crate(source, options)?;
    let rule = store.get(&place)?;
    let files = clang::prerequisites(rule.split(|b| *b == b'\n').next()?);
    if files.is_empty() || files.iter().any(|f| digest::has_another_place(f)) {
        return None;
    }
    let mut parts = vec![place.as_bytes().to_vec()];
    for line in String::from_utf8_lossy(&rule).lines() {
        // `NAME=VALUE`, or `NAME` where it was not set
        let Some(said) = line.strip_prefix("# env-dep:") else { continue };
        let (name, then) = said.split_once('=').map_or((said, None), |(n, v)| (n, Some(v)));
        if std::env::var(name).ok().as_deref() != then {
            return None;
        }
        parts.push(said.as_bytes().to_vec());
    }
    let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    made_of_files("rust", &parts, files, options)
}
