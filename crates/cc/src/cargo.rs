//! `cargo pleach test [FUNCTION…]`: functions of a crate, each called with any arguments.
//!
//! Cargo builds the crate with the flags that the engine needs; for each function a small program is written, and
//! `pleach` is run on it.

use pleach_load::rust::{crate_flags, library};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

const USAGE: &str = "usage: cargo pleach test|verify|reach [FUNCTION…] [-- FLAGS of pleach…]

Each FUNCTION is the path of a public function in the crate, as `parse` or `lexer::next`; its parameters have any
values. Without a FUNCTION, all public functions whose names begin with `check_`.";

/// The program `cargo-pleach`, which cargo starts.
pub fn main() -> ExitCode {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    if args.first().is_some_and(|a| a == "pleach") {
        args.remove(0);
    }
    if args.iter().take_while(|a| *a != "--").any(|a| a == "--help" || a == "-h") {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    match run(&args) {
        Ok(status) => ExitCode::from(status),
        Err(why) => {
            eprintln!("cargo-pleach: {why}");
            ExitCode::from(2)
        }
    }
}

fn run(args: &[String]) -> Result<u8, String> {
    let command = args.first().map(String::as_str).unwrap_or_default();
    if !matches!(command, "test" | "verify" | "reach") {
        return Err(USAGE.into());
    }
    let rest = &args[1..];
    let names = rest.iter().take_while(|a| *a != "--");
    let flags = rest.get(names.clone().count() + 1..).unwrap_or_default();
    if let Some(flag) = names.clone().find(|n| n.starts_with('-')) {
        return Err(format!("flags of pleach stand behind `--`: {flag}\n\n{USAGE}"));
    }
    let package = Package::here()?;
    let built = package.build()?;
    let functions = match names.clone().next() {
        Some(_) => names.map(|n| format!("{}::{n}", package.crate_name)).collect(),
        None => built.checks(&package.crate_name)?,
    };
    if functions.is_empty() {
        return Err(format!("the crate {} has no public function whose name begins with `check_`", package.name));
    }
    let mut worst = 0;
    for function in functions {
        println!("{function}:");
        worst = worst.max(package.explore(&built, command, &function, flags)?);
    }
    Ok(worst)
}

/// The package of the current directory.
struct Package {
    name: String,
    crate_name: String,
    edition: String,
    /// where everything of ours goes
    directory: PathBuf,
    host: String,
}

/// Its library, as cargo has built it.
struct Built {
    library: PathBuf,
    dependencies: PathBuf,
    pleach: String,
}

impl Package {
    fn here() -> Result<Package, String> {
        let text = output(cargo().args(["metadata", "--no-deps", "--offline", "--format-version=1"]))?;
        let all: Value = serde_json::from_str(&text).map_err(|why| format!("cargo metadata: {why}"))?;
        let here = std::env::current_dir().map_err(|why| why.to_string())?;
        let packages = all["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
        let directory = |p: &Value| Some(Path::new(p["manifest_path"].as_str()?).parent()?.to_owned());
        let ours = packages.iter().filter(|p| directory(p).is_some_and(|d| here.starts_with(d)));
        let package = ours.max_by_key(|p| directory(p).map(|d| d.components().count()));
        let package = package.ok_or("there is no package in this directory")?;
        let name = package["name"].as_str().unwrap_or_default().to_owned();
        let is_lib =
            |t: &&Value| t["crate_types"].as_array().is_some_and(|c| c.iter().any(|c| c == "lib" || c == "rlib"));
        let library = package["targets"].as_array().and_then(|t| t.iter().find(is_lib));
        let library =
            library.ok_or_else(|| format!("the package {name} has no library, whose functions could be called"))?;
        let version = output(Command::new("rustc").arg("-vV"))?;
        let host = version.lines().find_map(|l| l.strip_prefix("host: ")).unwrap_or_default().to_owned();
        Ok(Package {
            crate_name: library["name"].as_str().unwrap_or(&name).replace('-', "_"),
            edition: library["edition"].as_str().unwrap_or("2021").to_owned(),
            directory: Path::new(all["target_directory"].as_str().unwrap_or("target")).join("pleach"),
            name,
            host,
        })
    }

    fn build(&self) -> Result<Built, String> {
        let run = |build: &mut Command| output(build).map(drop);
        let found = library(&self.directory, &[], |why| why.to_string(), run)?;
        let pleach = found.concat();
        // Flags with a separator that no path contains.
        let ours = ["--cfg=pleach", "--check-cfg=cfg(pleach)", pleach.as_str()];
        let flags: Vec<&str> = crate_flags().map(|f| f as &str).chain(ours).collect();
        let mut cargo = cargo();
        cargo.args(["build", "--lib", "--offline", "--message-format=json-render-diagnostics", "--target", &self.host]);
        cargo.args(["--package", &self.name, "--target-dir"]).arg(&self.directory);
        let text = output(cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f")).stderr(Stdio::inherit()))?;
        let messages = text.lines().filter_map(|l| serde_json::from_str::<Value>(l).ok());
        let ours =
            messages.filter(|m| m["target"]["name"].as_str().is_some_and(|n| n.replace('-', "_") == self.crate_name));
        let files = ours.filter_map(|m| m["filenames"].as_array().cloned()).flatten();
        let mut libraries = files.filter_map(|f| f.as_str().filter(|f| f.ends_with(".rlib")).map(PathBuf::from));
        let library = libraries.next().ok_or("cargo built no library")?;
        let dependencies = self.directory.join(&self.host).join("debug/deps");
        Ok(Built { library, dependencies, pleach })
    }

    /// Runs `pleach` on a program that calls the function; its status.
    fn explore(&self, built: &Built, command: &str, function: &str, flags: &[String]) -> Result<u8, String> {
        let name = function.replace("::", "-");
        let source = self.directory.join("programs").join(format!("{name}.rs"));
        let text = format!("fn main() {{\n    pleach::check({function});\n}}\n");
        let unwritable = |why: std::io::Error| format!("{}: {why}", source.display());
        std::fs::create_dir_all(self.directory.join("programs")).map_err(unwritable)?;
        std::fs::write(&source, text).map_err(unwritable)?;
        let neighbour =
            std::env::current_exe().ok().and_then(|p| Some(p.parent()?.join("pleach"))).filter(|p| p.is_file());
        let mut pleach = Command::new(neighbour.unwrap_or_else(|| "pleach".into()));
        pleach.arg(command).arg(&source);
        let (library, dependencies) = (built.library.display(), built.dependencies.display());
        for flag in [
            format!("--edition={}", self.edition),
            built.pleach.clone(),
            format!("--extern={}={library}", self.crate_name),
            format!("-Ldependency={dependencies}"),
        ] {
            pleach.arg(format!("--cc-arg={flag}"));
        }
        if !flags.iter().any(|f| f.starts_with("--output-dir")) {
            let run = self.directory.join("runs").join(&name);
            // That of the run before.
            let _ = std::fs::remove_dir_all(&run);
            pleach.arg("--output-dir").arg(run);
        }
        let status = pleach.args(flags).status().map_err(|why| format!("pleach could not be run: {why}"))?;
        Ok(status.code().and_then(|c| u8::try_from(c).ok()).unwrap_or(2))
    }
}

impl Built {
    /// The functions whose names begin with `check_`, by the names of symbols in the library.
    fn checks(&self, crate_name: &str) -> Result<Vec<String>, String> {
        let bytes = std::fs::read(&self.library).map_err(|why| format!("{}: {why}", self.library.display()))?;
        let symbol = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
        let words = bytes.split(|b| !symbol(b)).filter(|w| w.starts_with(b"_RNv"));
        let names = words.filter_map(|w| std::str::from_utf8(w).ok()).map(pleach_report::names::readable);
        let ours = names.filter(|n| {
            let path = n.strip_prefix(crate_name).and_then(|rest| rest.strip_prefix("::"));
            path.is_some_and(|p| p.rsplit("::").next().is_some_and(|f| f.starts_with("check_")))
        });
        let plain = |n: &String| n.bytes().all(|b| symbol(&b) || b == b':');
        let all: std::collections::BTreeSet<String> = ours.filter(plain).collect();
        Ok(all.into_iter().collect())
    }
}

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

fn output(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|why| format!("{program} could not be run: {why}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{program} fails{}{}", if said.is_empty() { "" } else { "\n" }, said.trim_end()))
}
