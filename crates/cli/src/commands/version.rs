//! `pleach version`.

use crate::args::VersionArgs;
use pleach_command::{CliError, Code};

pub fn run(args: VersionArgs) -> Result<Code, CliError> {
    let version = env!("CARGO_PKG_VERSION");
    if args.json {
        println!("{}", serde_json::json!({ "name": "pleach", "version": version }));
    } else {
        println!("pleach {version}");
    }
    Ok(Code::Fine)
}
