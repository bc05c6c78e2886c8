//! Corpora, dictionaries and unit tests of a run.

mod support;

use pleach_present::Run;
use pleach_present::corpus::{self, Naming};
use pleach_present::unit_tests::{self, Framework};
use pleach_report::{EntryKind, InputType, Parameter, RunInfo};
use std::path::Path;

fn names(directory: &Path) -> Vec<String> {
    let mut all: Vec<String> =
        std::fs::read_dir(directory).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    all.sort();
    all
}

#[test]
fn a_corpus_for_each_fuzzer() {
    let place = tempfile::tempdir().unwrap();
    let run = Run::open(support::small(place.path()).path()).unwrap();
    let to = |name: &str| place.path().join(name);
    corpus::write(&run, Naming::Raw, &to("raw")).unwrap();
    assert_eq!(names(&to("raw")), ["test000001", "test000002", "test000003"]);
    assert_eq!(std::fs::read(to("raw/test000002")).unwrap(), b"\x02\0\0\0a<b\0");
    let written = corpus::write(&run, Naming::Afl, &to("afl")).unwrap();
    assert_eq!((written.corpus, written.crashes), (2, 1));
    assert_eq!(names(&to("afl/queue")), ["id:000000,orig:test000001", "id:000001,orig:test000003"]);
    assert_eq!(names(&to("afl/crashes")), ["id:000000,orig:test000002"]);
    corpus::write(&run, Naming::LibFuzzer, &to("lf")).unwrap();
    assert_eq!((names(&to("lf/corpus")).len(), names(&to("lf/crashes")).len()), (2, 1));
    assert!(names(&to("lf/crashes"))[0].starts_with("crash-"));
}

#[test]
fn words_of_the_program() {
    let place = tempfile::tempdir().unwrap();
    let dir = support::small(place.path());
    std::fs::write(place.path().join("a.c"), "f(\"GET\\n\"); g(\"a\\\"\");\n").unwrap();
    assert_eq!(corpus::dictionary(&Run::open(dir.path()).unwrap()), "\"GET\\x0A\"\n\"a\\\"\"\n");
}

#[test]
fn unit_tests_call_the_function() {
    let place = tempfile::tempdir().unwrap();
    let dir = support::small(place.path());
    let why = unit_tests::render(&Run::open(dir.path()).unwrap(), Framework::Plain).unwrap_err();
    assert!(why.contains("this run starts at `main`"), "{why}");
    let parameter = |name: &str, ty, by_pointer| Parameter { name: name.into(), ty, by_pointer };
    let parameters = vec![parameter("x", InputType::int(), false), parameter("text", InputType::Bytes(4), true)];
    let entry_kind = EntryKind::Function { parameters, returns: Some(InputType::int()) };
    let info = RunInfo { entry: "f".into(), entry_kind, directory: place.path().into(), ..RunInfo::default() };
    dir.write_run_info(&info).unwrap();
    let run = Run::open(dir.path()).unwrap();
    let plain = unit_tests::render(&run, Framework::Plain).unwrap();
    assert!(plain.contains("int32_t f(int32_t, void *);"), "{plain}");
    assert!(plain.contains("  int32_t x = 2;\n"), "{plain}");
    assert!(plain.contains("{0x61, 0x3c, 0x62, 0x00};\n  void *text = object(text_bytes, 4);"), "{plain}");
    assert!(plain.contains("{2, 1, test000002},"), "{plain}");
    let google = unit_tests::render(&run, Framework::GoogleTest).unwrap();
    assert!(google.contains("TEST(f, test000001)") && google.contains("TEST(f, DISABLED_test000002)"), "{google}");
    let cmocka = unit_tests::render(&run, Framework::Cmocka).unwrap();
    let (always, failing) = cmocka.split_once("#ifdef PLEACH_FAILING").unwrap();
    assert!(always.contains("cmocka_unit_test(test000001)") && !always.contains("cmocka_unit_test(test000002)"));
    assert!(failing.contains("cmocka_unit_test(test000002)"), "{cmocka}");
}
