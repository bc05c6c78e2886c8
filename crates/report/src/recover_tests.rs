//! Run directories as a kill or a full disk leaves them.

use super::*;
use crate::model::{ErrorKind, TestId};
use crate::runinfo::RunInfo;
use crate::stats::StatsWriter;
use crate::tree::{TreeNode, TreeWriter};

fn test(id: u32, predicted: Prediction) -> TestCase {
    let (inputs, args) = (Vec::new(), Vec::new());
    TestCase { id: TestId(id), inputs, predicted, covers_new: false, given: false, path: 0, instructions: 0, args }
}

/// A run with an error, two packed tests, a tree with two leaves of which one is open, and no summary.
fn killed(dir: &Path) -> RunDir {
    let run = RunDir::create(Some(&dir.join("run"))).unwrap();
    run.write_run_info(&RunInfo { entry: "main".into(), ..RunInfo::default() }).unwrap();
    let error = Prediction::Error { kind: ErrorKind::Null, file: "a.c".into(), line: 3, message: "a write".into() };
    run.write_test(&test(1, error.clone()), None).unwrap();
    // Another path to the same error.
    run.pack_test(&test(2, error)).unwrap();
    run.pack_test(&test(3, Prediction::Exit { code: Some(0) })).unwrap();
    run.flush().unwrap();
    let mut tree = TreeWriter::create(&run.file("tree.bin")).unwrap();
    for (id, status) in [(0, NodeStatus::Inner), (1, NodeStatus::Completed), (2, NodeStatus::Live)] {
        let parent = (id != 0).then_some(0);
        tree.write(&TreeNode { id, parent, status, tainted: false, file: "a.c", line: 1, test: None }).unwrap();
    }
    tree.flush().unwrap();
    let mut stats = StatsWriter::create(&run.file("stats.db")).unwrap();
    stats.push(&StatsRow { elapsed_us: 77, instructions: 5, states: 2, ..StatsRow::default() }).unwrap();
    run
}

#[test]
fn what_is_there_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let run = killed(dir.path());
    let found = run.recover().unwrap();
    let s = &found.summary;
    assert_eq!((s.complete, s.verdict.as_str(), s.tests, s.instructions), (false, "unsafe", 3, 5));
    assert_eq!(
        s.errors.iter().map(|e| (e.kind, e.line, e.test)).collect::<Vec<_>>(),
        [(ErrorKind::Null, 3, Some(TestId(1)))]
    );
    assert_eq!((s.paths.completed, s.paths.cut), (1, 2));
    assert_eq!(s.cut, [Cut { reason: KILLED.into(), count: 2, detail: String::new() }]);
    assert_eq!((found.timing.elapsed_us, found.damage), (77, Vec::<String>::new()));
}

#[test]
fn damaged_files_are_read_up_to_the_damage() {
    let dir = tempfile::tempdir().unwrap();
    let run = killed(dir.path());
    for name in ["tests.pack", "tree.bin", "stats.db"] {
        let whole = std::fs::read(run.file(name)).unwrap();
        for len in [0, 3, 9, whole.len() / 2, whole.len() - 1] {
            std::fs::write(run.file(name), &whole[..len]).unwrap();
            assert_eq!(run.recover().unwrap().summary.errors.len(), 1, "{name} cut at {len}");
        }
        let mut changed = whole.clone();
        let middle = whole.len() / 2;
        changed[middle..].iter_mut().for_each(|b| *b ^= 0x5a);
        std::fs::write(run.file(name), &changed).unwrap();
        assert_eq!(run.recover().unwrap().summary.errors.len(), 1, "{name} with noise");
        std::fs::write(run.file(name), &whole).unwrap();
    }
    std::fs::write(run.file("test000001.json"), "{").unwrap();
    let found = run.recover().unwrap();
    assert_eq!((found.summary.tests, found.damage.len()), (2, 1), "{:?}", found.damage);
}

#[test]
fn a_run_that_is_going_on() {
    let dir = tempfile::tempdir().unwrap();
    let run = RunDir::create(Some(&dir.path().join("run"))).unwrap();
    assert!(!run.is_going_on());
    let tree = TreeWriter::create(&run.file("tree.bin")).unwrap();
    assert!(run.is_going_on());
    drop(tree);
    assert!(!run.is_going_on());
}
