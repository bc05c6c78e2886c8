//! `interpolants.jsonl`: why nodes were pruned, one line per node of the tree that is complete.

use crate::error::{ReportError, Result};
use crate::rundir::RunDir;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const FILE: &str = "interpolants.jsonl";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interpolant {
    pub node: u32,
    pub file: String,
    pub line: u32,
    /// functions on the stack, outermost first
    pub stack: Vec<String>,
    /// the node whose interpolant covers this one
    #[serde(alias = "covered_by", skip_serializing_if = "Option::is_none", default)]
    pub subsumed_by: Option<u32>,
    /// why there is no interpolant
    #[serde(alias = "gave_up", skip_serializing_if = "Option::is_none", default)]
    pub no_interpolant: Option<String>,
    /// a state at this place that satisfies all of these is covered; empty with `no_interpolant`
    pub conjuncts: Vec<String>,
}

impl RunDir {
    pub fn write_interpolants(&self, all: &[Interpolant]) -> Result<()> {
        let mut text = String::new();
        for one in all {
            text.push_str(&serde_json::to_string(one).expect("structs of strings always serialise"));
            text.push('\n');
        }
        self.write(FILE, text.as_bytes())
    }

    /// By node; `None` when the run kept none.
    pub fn interpolants(&self) -> Result<Option<BTreeMap<u32, Interpolant>>> {
        let path = self.file(FILE);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(ReportError::io("read", &path)(e)),
        };
        let read = |line: &str| -> Result<(u32, Interpolant)> {
            let one: Interpolant =
                serde_json::from_str(line).map_err(|e| ReportError::malformed(FILE, e.to_string()))?;
            Ok((one.node, one))
        };
        text.lines().map(read).collect::<Result<_>>().map(Some)
    }
}
