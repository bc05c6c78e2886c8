use super::*;
use crate::input::{Input, InputOrigin, InputType};
use crate::model::ErrorKind;

fn test(id: u32) -> TestCase {
    TestCase {
        id: TestId(id),
        inputs: vec![Input {
            name: "x".into(),
            ty: InputType::int(),
            bytes: id.to_le_bytes().to_vec(),
            origin: InputOrigin::MakeSymbolic,
        }],
        predicted: Prediction::Exit { code: Some(0) },
        covers_new: false,
        given: false,
        path: 1,
        instructions: 2,
        args: vec!["prog".into()],
    }
}

#[test]
fn fresh_directories_and_the_link() {
    let dir = tempfile::tempdir().unwrap();
    for n in 0..3 {
        let run = RunDir::create_below(dir.path()).unwrap();
        assert!(run.path().ends_with(format!("pleach-out-{n}")));
        let link = fs::read_link(dir.path().join(LAST)).unwrap();
        assert_eq!(link, PathBuf::from(format!("pleach-out-{n}")));
    }
}

#[test]
fn a_real_directory_called_last_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join(LAST)).unwrap();
    RunDir::create_below(dir.path()).unwrap();
    assert!(dir.path().join(LAST).is_dir());
}

#[test]
fn given_directory_must_be_empty() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("a/b");
    RunDir::create(Some(&out)).unwrap();
    let message = RunDir::create(Some(&out)).unwrap_err().to_string();
    assert!(message.contains("exists and is not empty"), "{message}");
    fs::write(dir.path().join("file"), "").unwrap();
    assert!(RunDir::create(Some(&dir.path().join("file"))).is_err());
}

#[test]
fn tests_from_files_and_archive() {
    let dir = tempfile::tempdir().unwrap();
    let run = RunDir::create(Some(&dir.path().join("out"))).unwrap();
    run.write_run_info(&RunInfo::default()).unwrap();
    let mut failing = test(2);
    failing.predicted =
        Prediction::Error { kind: ErrorKind::Null, file: "a.c".into(), line: 7, message: "null".into() };
    let error = ErrorRecord {
        kind: ErrorKind::Null,
        file: "a.c".into(),
        line: 7,
        column: 1,
        message: "null".into(),
        stack: vec![],
        test: Some(TestId(2)),
    };
    run.pack_test(&test(1)).unwrap();
    run.write_test(&failing, Some(&error)).unwrap();
    run.pack_test(&test(3)).unwrap();
    assert_eq!(run.tests().unwrap(), [test(1), failing, test(3)]);
    for name in ["test000002.ktest", "test000002.json", "test000002.null.err", "test-suite/test000002.xml"] {
        assert!(run.file(name).is_file(), "{name}");
    }
    assert!(!run.file("test000001.ktest").exists());

    let again = RunDir::open(run.path()).unwrap();
    assert_eq!(again.export_all().unwrap(), 2);
    assert!(run.file("test000001.ktest").is_file());
    assert_eq!(again.tests().unwrap().len(), 3);
    let temporary = fs::read_dir(run.path())
        .unwrap()
        .flatten()
        .filter(|e| e.path().extension().is_some_and(|x| x == "tmp"))
        .count();
    assert_eq!(temporary, 0);
}

#[test]
fn summary_reads_back() {
    let dir = tempfile::tempdir().unwrap();
    let run = RunDir::create(Some(&dir.path().join("out"))).unwrap();
    let summary = Summary { complete: true, verdict: "safe".into(), ..Default::default() };
    run.write_summary(&summary).unwrap();
    assert_eq!(run.summary().unwrap(), summary);
    assert!(RunDir::open(run.path()).unwrap_err().to_string().contains("run.json"));
    assert!(RunDir::open(&dir.path().join("none")).is_err());
}
