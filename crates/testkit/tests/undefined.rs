//! Undefined behaviour in bitcode, which has no checks of the compiler in it.

use pleach_testkit::engine::pleach_within;
use pleach_testkit::scratch::Scratch;
use std::time::Duration;

/// The kinds of errors in a program as textual IR.
fn kinds(ir: &str) -> Vec<String> {
    let world = Scratch::new("undefined");
    std::fs::write(world.file("a.ll"), ir).unwrap();
    let args = ["test", "--json", "--quiet", "a.ll"];
    let finished = pleach_within(8192, &args, world.path(), Duration::from_secs(60)).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&finished.stdout).expect("a summary");
    assert_eq!(summary["complete"], true, "{summary}");
    let errors = summary["errors"].as_array().expect("errors");
    errors.iter().map(|e| e["kind"].as_str().unwrap_or_default().to_owned()).collect()
}

/// What the compiler makes of `7 % 0` where it does not optimise.
#[test]
fn a_constant_without_a_value() {
    let stored = "define i32 @main() noinline {\n  %a = alloca i32\n  store i32 poison, ptr %a\n  ret i32 0\n}\n";
    assert_eq!(kinds(stored), ["poison"]);
    let returned = "define i32 @main() noinline {\n  %a = alloca i32\n  store i32 0, ptr %a\n  ret i32 poison\n}\n";
    assert_eq!(kinds(returned), ["poison"]);
    let branch = "define i32 @main() {\n  br i1 poison, label %a, label %b\na:\n  ret i32 1\nb:\n  ret i32 0\n}\n";
    assert_eq!(kinds(branch), ["poison"]);
}

/// An optimiser leaves such constants where nobody looks at them.
#[test]
fn a_constant_that_does_not_matter() {
    let ir = "define i32 @main(i32 %n, ptr %v) {\n  %c = icmp sgt i32 %n, 99\n  %r = select i1 %c, i32 poison, i32 0\n  ret i32 %r\n}\n";
    assert!(kinds(ir).is_empty());
}

/// Zeros of 0 are any number in optimised code, where nobody may look at them.
#[test]
fn zeros_of_zero() {
    let count = "declare i32 @llvm.ctlz.i32(i32, i1)\ndeclare void @abort()\n";
    let used = "define i32 @main(i32 %n, ptr %v) {\n  %x = sub i32 %n, %n\n  %z = call i32 @llvm.ctlz.i32(i32 %x, i1 true)\n  \
                %c = icmp eq i32 %z, 7\n  br i1 %c, label %a, label %b\na:\n  call void @abort()\n  ret i32 1\nb:\n  ret i32 0\n}\n";
    assert_eq!(kinds(&format!("{count}{used}")), ["abort"]);
}

/// The alignment of an access is in its bitcode.
#[test]
fn alignment() {
    let at = |offset: u32, align: u32| {
        format!(
            "define i32 @main() {{\n  %a = alloca [16 x i8], align 16\n  store [16 x i8] zeroinitializer, ptr %a\n  \
             %p = getelementptr i8, ptr %a, i64 {offset}\n  %r = load i32, ptr %p, align {align}\n  ret i32 %r\n}}\n"
        )
    };
    assert_eq!(kinds(&at(2, 4)), ["misaligned"]);
    assert!(kinds(&at(2, 2)).is_empty());
    assert!(kinds(&at(4, 4)).is_empty());
}

/// An integer that a floating-point value does not fit into is any value behind an optimiser, and an error elsewhere.
#[test]
fn conversion() {
    let cast = "  %r = fptosi double 0x41E0000000000000 to i32\n  %c = icmp eq i32 %r, 5\n";
    let rest = "  br i1 %c, label %a, label %b\na:\n  call void @abort()\n  ret i32 1\nb:\n  ret i32 0\n}\ndeclare void @abort()\n";
    let optimised = format!("define i32 @main() {{\n{cast}{rest}");
    assert_eq!(kinds(&optimised), ["abort"]);
    let plain = format!("define i32 @main() noinline {{\n  %v = alloca i32\n  store i32 0, ptr %v\n{cast}{rest}");
    assert_eq!(kinds(&plain), ["float-cast"]);
}
