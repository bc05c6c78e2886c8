//! Small programs in directories of their own.

#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::time::Duration;

use pleach_replay::{Options, Replayer, Report};
use pleach_report::{EntryKind, ErrorKind, Input, InputOrigin, InputType, Prediction, RunInfo, TestCase, TestId};

/// A program on disk, gone with the value.
pub struct Program {
    directory: PathBuf,
    pub info: RunInfo,
    pub options: Options,
}

impl Program {
    pub fn new(name: &str, source: &str) -> Self {
        let directory = std::env::temp_dir().join(format!("pleach-replay-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(directory.join("a.c"), source).unwrap();
        let info = RunInfo {
            sources: vec!["a.c".into()],
            directory: directory.clone(),
            entry: "main".into(),
            entry_kind: EntryKind::Main,
            argv: vec!["a".into()],
            ..Default::default()
        };
        let mut options = Options::default();
        options.limits.time = Duration::from_secs(20);
        Self { directory, info, options }
    }

    pub fn path(&self) -> &Path {
        &self.directory
    }

    pub fn replayer(&self) -> Replayer {
        Replayer::for_program(self.info.clone(), self.directory.join("replay"), self.options.clone())
    }

    pub fn replay(&self, inputs: &[(&str, &[u8])], predicted: Prediction) -> Report {
        self.replayer().replay(&test(inputs, predicted)).unwrap()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

pub fn test(inputs: &[(&str, &[u8])], predicted: Prediction) -> TestCase {
    let input = |(name, bytes): &(&str, &[u8])| Input {
        name: (*name).into(),
        ty: InputType::Bytes(bytes.len() as u64),
        bytes: bytes.to_vec(),
        origin: InputOrigin::MakeSymbolic,
    };
    TestCase {
        id: TestId(1),
        inputs: inputs.iter().map(input).collect(),
        predicted,
        covers_new: true,
        given: false,
        path: 0,
        instructions: 0,
        args: vec![],
    }
}

pub fn exit(code: i32) -> Prediction {
    Prediction::Exit { code: Some(code) }
}

pub fn error(kind: ErrorKind, line: u32) -> Prediction {
    Prediction::Error { kind, file: "a.c".into(), line, message: "m".into() }
}
