//! An entry that is `static`: its symbol is made global in the object that has it, so that the driver can call it.

use crate::compile::run;
use crate::error::{ReplayError, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Makes the function visible in the first object that has it. Of several `static` functions of one name the first has
/// that name in the linked bitcode, too.
pub(crate) fn make_visible(objects: &[PathBuf], name: &str) -> Result<()> {
    for object in objects {
        if has_function(object, name)? {
            let flag = format!("--globalize-symbol={name}");
            run(tool("llvm-objcopy").arg(flag).arg(object))?;
            return Ok(());
        }
    }
    Err(ReplayError::Build(format!("no file defines `{name}` under that name")))
}

fn has_function(object: &Path, name: &str) -> Result<bool> {
    let listed = run(tool("llvm-nm").args(["--defined-only", "--format=posix"]).arg(object))?;
    let text = String::from_utf8_lossy(&listed.stdout).into_owned();
    Ok(text.lines().any(|line| {
        let mut words = line.split(' ');
        words.next() == Some(name) && matches!(words.next(), Some("t" | "T"))
    }))
}

/// A program of LLVM, by the name that Debian gives it or the plain one.
fn tool(name: &str) -> Command {
    let versioned = format!("{name}-19");
    let is_there = Command::new(&versioned).arg("--version").output().is_ok();
    Command::new(if is_there { versioned } else { name.to_owned() })
}
