//! Run directories made by hand: a small one with one of everything, and trees of any size.

#![allow(dead_code)]

use pleach_report::{
    Assumption, ContractRecord, Coverage, Cut, ErrorKind, ErrorRecord, FileCoverage, FunctionCoverage, Input,
    InputOrigin, InputType, Interpolant, LoopRecord, NodeStatus, Paths, Prediction, RunDir, RunInfo, StackFrame,
    StatsRow, StatsWriter, Summary, TestCase, TestId, Timing, TreeNode, TreeWriter,
};
use std::path::Path;

pub const SOURCE: &str = "int f(int x) {\n  if (x > 3)\n    return 1;\n  assert(x < 0); /* </script> */\n  return 0;\n}\n\
                          int never(void) {\n  return 2;\n}\n";

pub fn error() -> ErrorRecord {
    let frame = |function: &str, line| StackFrame { function: function.into(), file: "a.c".into(), line, column: 3 };
    ErrorRecord {
        kind: ErrorKind::Assert,
        file: "a.c".into(),
        line: 4,
        column: 3,
        message: "the assertion `x < 0` does not hold".into(),
        stack: vec![frame("f", 4), frame("main", 12)],
        test: Some(TestId(2)),
    }
}

pub fn test(id: u32, path: u64, predicted: Prediction) -> TestCase {
    let int = |name: &str, n: i32| Input {
        name: name.into(),
        ty: InputType::int(),
        bytes: n.to_le_bytes().to_vec(),
        origin: InputOrigin::MakeSymbolic,
    };
    let text = Input {
        name: "text".into(),
        ty: InputType::array(InputType::char(), 4),
        bytes: b"a<b\0".to_vec(),
        origin: InputOrigin::MakeSymbolic,
    };
    TestCase {
        id: TestId(id),
        inputs: vec![int("x", id as i32), text],
        predicted,
        covers_new: id < 3,
        given: false,
        path,
        instructions: 10,
        args: vec!["a".into()],
    }
}

pub fn summary() -> Summary {
    Summary {
        paths: Paths { completed: 1, errored: 1, cut: 1, pruned: 1, merged: 0 },
        errors: vec![error()],
        totals: pleach_report::Totals { lines: 6, lines_covered: 4, branches: 4, branches_covered: 3 },
        covered: [("a.c".to_owned(), vec![1, 2, 3, 4])].into(),
        cut: vec![Cut { reason: "external-call".into(), count: 1, detail: "mystery".into() }],
        assumptions: vec![Assumption { kind: "arguments".into(), clause: "there are no arguments".into() }],
        loops: vec![LoopRecord {
            file: "a.c".into(),
            line: 2,
            function: "f".into(),
            unrolled: 1,
            rounds: 1,
            invariants: vec![vec!["x < 9".into()]],
            ..LoopRecord::default()
        }],
        contracts: vec![ContractRecord {
            file: "a.c".into(),
            line: 7,
            function: "never".into(),
            requires: Vec::new(),
            ensures: vec!["result == 2".into()],
        }],
        verdict: "unsafe".into(),
        sources: vec!["a.c".into()],
        version: "0.1.0".into(),
        entry: "main".into(),
        tests: 3,
        instructions: 1234567,
        forks: 3,
        states_peak: 2,
        ..Summary::default()
    }
}

/// One of everything.
pub fn small(parent: &Path) -> RunDir {
    std::fs::write(parent.join("a.c"), SOURCE).unwrap();
    let dir = RunDir::create(Some(&parent.join("run"))).unwrap();
    let info = RunInfo {
        sources: vec!["a.c".into()],
        directory: parent.to_owned(),
        entry: "main".into(),
        argv: vec!["a".into()],
        command: vec!["pleach".into(), "test".into(), "a.c".into()],
        ..RunInfo::default()
    };
    dir.write_run_info(&info).unwrap();
    dir.write_summary(&summary()).unwrap();
    dir.write_timing(&Timing { started: 1, elapsed_us: 2_500_000, ..Timing::default() }).unwrap();
    dir.write_result_text("Explored 2 paths in 2.5s: 1 error.\n").unwrap();
    dir.write_coverage(&Coverage { files: [("a.c".to_owned(), coverage())].into() }).unwrap();
    dir.write_test(&test(1, 2, Prediction::Exit { code: Some(0) }), None).unwrap();
    dir.write_test(&test(2, 3, error().predicted()), Some(&error())).unwrap();
    let reason = "call of a function without a body: mystery".to_owned();
    dir.pack_test(&test(3, 5, Prediction::Cut { reason })).unwrap();
    dir.flush().unwrap();
    let mut tree = TreeWriter::create(&dir.file("tree.bin")).unwrap();
    use NodeStatus::*;
    let nodes = [
        (0, None, Inner, 2, 0),
        (1, Some(0), Inner, 2, 0),
        (2, Some(0), Completed, 3, 1),
        (3, Some(1), Errored, 4, 2),
        (4, Some(1), Inner, 4, 0),
        (5, Some(4), Cut, 4, 3),
        (6, Some(4), Pruned, 4, 0),
    ];
    for (id, parent, status, line, test) in nodes {
        let test = (test > 0).then_some(TestId(test));
        tree.write(&TreeNode { id, parent, status, tainted: false, file: "a.c", line, test }).unwrap();
    }
    tree.flush().unwrap();
    let mut stats = StatsWriter::create(&dir.file("stats.db")).unwrap();
    for i in 0..5 {
        let row = StatsRow {
            elapsed_us: i * 500_000,
            states: i,
            covered_lines: 2 * i,
            memory_bytes: 1 << 24,
            ..StatsRow::default()
        };
        stats.push(&row).unwrap();
    }
    let interpolant = |node, subsumed_by, conjuncts: &[&str]| Interpolant {
        node,
        file: "a.c".into(),
        line: 4,
        stack: vec!["main".into()],
        subsumed_by,
        no_interpolant: None,
        conjuncts: conjuncts.iter().map(|c| (*c).to_owned()).collect(),
    };
    dir.write_interpolants(&[interpolant(2, None, &["x > 3"]), interpolant(6, Some(2), &["x > 3"])]).unwrap();
    dir
}

fn coverage() -> FileCoverage {
    let function = |line, count| FunctionCoverage { line, count };
    FileCoverage {
        lines: [(1, 1), (2, 1), (3, 1), (4, 2), (5, 0), (8, 0)].into(),
        branches: [((2, 0, 0), 1), ((2, 0, 1), 2), ((4, 0, 0), 1), ((4, 0, 1), 0)].into(),
        functions: [("f".to_owned(), function(1, 1)), ("never".to_owned(), function(7, 0))].into(),
    }
}

/// Replaces the tree of a run by a binary one of about `size` nodes, which grows breadth first.
pub fn grow(dir: &RunDir, size: u32) {
    let mut tree = TreeWriter::create(&dir.file("tree.bin")).unwrap();
    let leaves = [NodeStatus::Completed, NodeStatus::Pruned, NodeStatus::Cut, NodeStatus::Errored];
    for id in 0..size {
        let status = if 2 * id + 1 < size { NodeStatus::Inner } else { leaves[(id % 97 % 4) as usize] };
        let parent = id.checked_sub(1).map(|i| i / 2);
        tree.write(&TreeNode { id, parent, status, tainted: false, file: "a.c", line: id % 5 + 1, test: None })
            .unwrap();
    }
    tree.flush().unwrap();
}
