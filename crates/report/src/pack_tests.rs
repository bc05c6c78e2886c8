use super::*;
use crate::model::ErrorKind;

fn test(id: u32, predicted: Prediction) -> TestCase {
    let input = |name: &str, bytes: Vec<u8>| Input {
        name: name.into(),
        ty: InputType::int(),
        bytes,
        origin: InputOrigin::Nondet,
    };
    let mut inputs = vec![input("x", id.to_le_bytes().to_vec())];
    if id.is_multiple_of(2) {
        inputs.push(input("y", vec![1, 2]));
    }
    let (path, instructions) = (u64::from(id) * 1000, u64::MAX);
    TestCase {
        id: TestId(id),
        inputs,
        predicted,
        covers_new: id == 1,
        given: id == 2,
        path,
        instructions,
        args: vec!["p".into()],
    }
}

fn samples() -> Vec<TestCase> {
    let error = Prediction::Error { kind: ErrorKind::Null, file: "a.c".into(), line: 3, message: "m".into() };
    vec![
        test(1, Prediction::Exit { code: None }),
        test(2, Prediction::Exit { code: Some(-1) }),
        test(3, error),
        test(4, Prediction::Cut { reason: "max-depth".into() }),
    ]
}

fn written() -> (tempfile::TempDir, Vec<u8>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tests.pack");
    let mut writer = PackWriter::create(&path).unwrap();
    for test in samples() {
        writer.push(&test).unwrap();
    }
    writer.flush().unwrap();
    let bytes = std::fs::read(&path).unwrap();
    (dir, bytes)
}

fn read(bytes: &[u8]) -> Result<Vec<TestCase>> {
    PackReader::new(bytes, bytes.len() as u64)?.collect()
}

#[test]
fn round_trip() {
    let (dir, bytes) = written();
    assert_eq!(read(&bytes).unwrap(), samples());
    let reader = PackReader::open(&dir.path().join("tests.pack")).unwrap();
    assert_eq!(reader.map(|t| t.unwrap()).collect::<Vec<_>>(), samples());
}

#[test]
fn any_truncation_keeps_a_prefix() {
    let (_dir, bytes) = written();
    let all = samples();
    let mut seen = 0;
    for n in 0..bytes.len() {
        let tests = read(&bytes[..n]).unwrap();
        assert_eq!(tests, all[..tests.len()]);
        assert!(tests.len() >= seen);
        seen = tests.len();
    }
    assert_eq!(seen, 3);
}

#[test]
fn any_flipped_byte_is_noticed() {
    let (_dir, bytes) = written();
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0xff;
        if let Ok(tests) = read(&damaged) {
            assert_eq!(tests, samples()[..tests.len()], "byte {at}");
            assert!(tests.len() < 4);
        }
    }
}

#[test]
fn many_tests_are_small_and_quick() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tests.pack");
    let mut writer = PackWriter::create(&path).unwrap();
    let mut sample = test(1, Prediction::Exit { code: Some(0) });
    for id in 0..131_072u32 {
        sample.id = TestId(id);
        sample.inputs[0].bytes.copy_from_slice(&id.to_le_bytes());
        writer.push(&sample).unwrap();
    }
    writer.flush().unwrap();
    assert!(std::fs::metadata(&path).unwrap().len() < 131_072 * 48);
    assert_eq!(PackReader::open(&path).unwrap().count(), 131_072);
}

#[test]
fn many_large_shapes_take_little_memory() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tests.pack");
    let mut writer = PackWriter::create(&path).unwrap();
    let first = test(1, Prediction::Exit { code: None });
    let tests: Vec<_> = [1, 6_000, 1, 7_000, 6_000, 1]
        .map(|n| TestCase { inputs: vec![first.inputs[0].clone(); n], ..first.clone() })
        .into();
    for test in &tests {
        writer.push(test).unwrap();
        assert!(writer.shapes.keys().map(|s| s.inputs.len()).sum::<usize>() <= REMEMBERED_INPUTS);
    }
    writer.flush().unwrap();
    assert_eq!(read(&std::fs::read(&path).unwrap()).unwrap(), tests);
}
