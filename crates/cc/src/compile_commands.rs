//! `compile_commands.json`: which files a build compiles, and with which flags.

use crate::line::Line;
use pleach_command::CliError;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

const NAME: &str = "compile_commands.json";
/// Flags whose value is a path, joined or as the next argument.
const WITH_PATH: [&str; 5] = ["-isystem", "-iquote", "-idirafter", "-include", "-I"];

#[derive(serde::Deserialize)]
struct CompileCommand {
    directory: PathBuf,
    file: PathBuf,
    #[serde(default)]
    arguments: Vec<String>,
    #[serde(default)]
    command: String,
}

/// Files of a build and the flags that all of them are compiled with.
#[derive(PartialEq, Eq, Debug, Default)]
pub struct Project {
    pub files: Vec<PathBuf>,
    pub flags: Vec<String>,
}

/// The project of a build directory, or of the file itself. `wanted`: only these files; empty for all. A wanted file
/// that the build does not have, such as a harness, gets the flags of those that it has, or of the whole build.
pub fn read(build: &Path, wanted: &[PathBuf]) -> Result<Project, CliError> {
    let path = if build.is_dir() { build.join(NAME) } else { build.to_owned() };
    let wrong = |why: String| CliError::Usage(format!("cannot read {}: {why}", path.display()));
    let text = std::fs::read(&path).map_err(|e| wrong(e.to_string()))?;
    let entries: Vec<CompileCommand> = serde_json::from_slice(&text).map_err(|e| wrong(e.to_string()))?;
    let base = std::path::absolute(&path).unwrap_or_else(|_| path.clone());
    let base = base.parent().unwrap_or(Path::new("/"));
    let mut project = Project::default();
    let mut defined = BTreeMap::new();
    let of = |entry: &CompileCommand| base.join(&entry.directory).join(&entry.file);
    let is_wanted = |file: &Path| wanted.iter().any(|w| same(w, file));
    let all = !entries.iter().any(|e| is_wanted(&of(e)));
    for entry in &entries {
        let directory = base.join(&entry.directory);
        let file = of(entry);
        if !all && !is_wanted(&file) || project.files.iter().any(|f| same(f, &file)) {
            continue;
        }
        for flag in flags(entry, &directory).map_err(wrong)? {
            if let Some(clash) = clash(&mut defined, &flag) {
                let why = format!("its files are compiled with different values of `{clash}`; name files that agree");
                return Err(CliError::Usage(format!("{} cannot be explored as a whole: {why}", path.display())));
            }
            // The order of directories matters, a repetition does not.
            if !project.flags.ends_with(&flag) && !has(&project.flags, &flag) {
                project.flags.extend(flag);
            }
        }
        project.files.push(shortest(&file));
    }
    if project.files.is_empty() {
        return Err(wrong("it names no files".into()));
    }
    if !wanted.is_empty() {
        if let Some(file) = wanted.iter().find(|w| !w.exists()) {
            return Err(CliError::Usage(format!(
                "{} is not in {}, and does not exist",
                file.display(),
                path.display()
            )));
        }
        let given = wanted.iter().filter(|w| !project.files.iter().any(|f| same(w, f)));
        let given: Vec<PathBuf> = given.cloned().collect();
        project.files = if all { wanted.to_vec() } else { given.into_iter().chain(project.files).collect() };
    }
    Ok(project)
}

fn same(a: &Path, b: &Path) -> bool {
    let whole = |p: &Path| std::fs::canonicalize(p).unwrap_or_else(|_| p.to_owned());
    whole(a) == whole(b)
}

fn has(flags: &[String], group: &[String]) -> bool {
    flags.windows(group.len()).any(|w| w == group)
}

/// Relative to the current directory, if it is below it.
fn shortest(file: &Path) -> PathBuf {
    let here = std::env::current_dir().ok();
    let relative = here.and_then(|here| Some(file.strip_prefix(here).ok()?.to_owned()));
    relative.unwrap_or_else(|| file.to_owned())
}

/// The flags of one file in groups of one, or two with a value; paths are absolute.
fn flags(entry: &CompileCommand, directory: &Path) -> Result<Vec<Vec<String>>, String> {
    let line = match entry.arguments.is_empty() {
        true => words(&entry.command).ok_or_else(|| format!("a quote of `{}` is not closed", entry.command))?,
        false => entry.arguments.clone(),
    };
    let line: Vec<OsString> = line.iter().skip(1).map(OsString::from).collect();
    let kept = Line::parse(&line).flags.into_iter().map(|f| f.to_string_lossy().into_owned());
    let (mut groups, mut kept) = (Vec::new(), kept.peekable());
    while let Some(flag) = kept.next() {
        let with_path = WITH_PATH.iter().find(|w| flag.starts_with(**w));
        groups.push(match (with_path, &flag) {
            (Some(name), flag) if flag == name => {
                let value = kept.next().unwrap_or_default();
                vec![flag.clone(), directory.join(value).display().to_string()]
            }
            (Some(name), flag) => vec![format!("{name}{}", directory.join(&flag[name.len()..]).display())],
            (None, flag) if flag == "-D" || flag == "-U" => vec![format!("{flag}{}", kept.next().unwrap_or_default())],
            (None, flag) => {
                let takes = kept.peek().is_some_and(|next| !next.starts_with('-'));
                if takes { vec![flag.clone(), kept.next().unwrap_or_default()] } else { vec![flag.clone()] }
            }
        });
    }
    Ok(groups)
}

/// The macro that an earlier file was compiled with another value of.
fn clash(defined: &mut BTreeMap<String, String>, flag: &[String]) -> Option<String> {
    let definition = flag.first()?.strip_prefix("-D")?;
    let name = definition.split('=').next().unwrap_or(definition).to_owned();
    let before = defined.insert(name.clone(), definition.to_owned());
    before.filter(|b| b != definition).map(|_| name)
}

/// The words of a command, as a shell reads them; none if a quote is open.
fn words(command: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut chars = command.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some('"') | None, '\\') => word.get_or_insert_default().extend(chars.next()),
            (None, '\'' | '"') => {
                word.get_or_insert_default();
                quote = Some(c);
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_shell() {
        let want = ["cc", "-DA=\"x y\"", "a b.c", ""].map(str::to_owned).to_vec();
        assert_eq!(words(r#"cc '-DA="x y"'  a\ b.c """#), Some(want));
        assert_eq!(words("cc 'a"), None);
    }

    #[test]
    fn flags_become_absolute_and_lose_what_is_not_ours() {
        let entry = CompileCommand {
            directory: "/b".into(),
            file: "a.c".into(),
            arguments: Vec::new(),
            command: "cc -O2 -Wall -Iinc -I /usr/x -DN=3 -include pre.h -c a.c -o a.o -MF a.d".into(),
        };
        let flags: Vec<String> = flags(&entry, Path::new("/b")).unwrap().concat();
        assert_eq!(flags, ["-Wall", "-I/b/inc", "-I", "/usr/x", "-DN=3", "-include", "/b/pre.h"]);
    }

    #[test]
    fn different_values_are_seen() {
        let mut defined = BTreeMap::new();
        assert_eq!(clash(&mut defined, &["-DN=1".into()]), None);
        assert_eq!(clash(&mut defined, &["-DN=1".into()]), None);
        assert_eq!(clash(&mut defined, &["-DN=2".into()]), Some("N".into()));
    }
}
