//! A program is the same after the way through the wire.

mod common;

use common::Scratch;
use pleach_frontend::Options;
use pleach_ir::Program;
use pleach_load::wire::{self, FrontendReply, Message};
use std::path::PathBuf;

fn there_and_back(program: &Program) -> Program {
    let mut bytes = Vec::new();
    wire::write(&Message::Reading(0), &mut bytes).expect("a vector takes everything");
    wire::write(&Message::Lowering, &mut bytes).expect("a vector takes everything");
    wire::write_program(program, &mut bytes).expect("a vector takes everything");
    match wire::decode_reply(&bytes).outcome {
        FrontendReply::Program(program) => *program,
        other => panic!("{other:?}"),
    }
}

#[test]
fn programs_come_back_equal() {
    let scratch = Scratch::new();
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let mut seen = 0;
    for entry in std::fs::read_dir(directory).expect("programs") {
        let program = scratch.load(vec![entry.expect("entry").path()]).unwrap_or_else(|e| panic!("{e}"));
        assert!(program == there_and_back(&program));
        seen += 1;
    }
    assert!(seen >= 4);
}

#[test]
fn rare_parts_come_back_equal() {
    let source = "#include <stdarg.h>\n\
        struct s { unsigned a : 3; long double d; union { char c[4]; float f; } u; struct s *next; } g = {1, 2.0L, {{0}}, &g};\n\
        extern int outside; enum e { ONE = -1, TWO } e; _Thread_local int t; __int128 wide = -5;\n\
        static int first(void) __attribute__((constructor)); static int first(void) { return e = TWO; }\n\
        int second(int n) __attribute__((alias(\"third\"))); int third(int n) { return n; }\n\
        int sum(int n, ...) { va_list l; va_start(l, n); int r = 0; while (n--) r += va_arg(l, int); va_end(l); return r; }\n\
        int main(int c, char **v) { void *to[] = {&&a, &&b}; char dyn[c]; dyn[0] = 1; goto *to[c & 1];\n\
          a: switch (c) { case 1: case 7: return sum(2, c, outside); default: wide *= c; } b: __asm__(\"nop\");\n\
          return second(dyn[0]) + (int)(double)g.d + (int)wide + t; }\n";
    let program = common::lower(source);
    let back = there_and_back(&program);
    assert!(program == back);
    assert!(program.function_named("second").is_some());
    assert_eq!(program.function_named("second"), back.function_named("second"));
}

#[test]
fn options_come_back_equal() {
    use std::os::unix::ffi::OsStringExt;
    let options = Options {
        inputs: vec!["a.c".into(), std::ffi::OsString::from_vec(vec![b'/', 0xFF, b'x']).into()],
        include_dirs: vec!["include".into()],
        defines: vec!["N=1".into()],
        m32: true,
        std: Some("c99".into()),
        cc_args: vec!["-w".into()],
        runtime_include: Some("runtime".into()),
        promote: false,
        passed_params: true,
        ..Options::default()
    };
    let request = wire::encode_request(&options).expect("encodes");
    assert_eq!(wire::decode_request(&request), Ok(options));
}

#[test]
fn a_cut_reply_is_no_program() {
    let mut bytes = Vec::new();
    wire::write(&Message::Reading(3), &mut bytes).expect("a vector takes everything");
    let before = bytes.len();
    wire::write_program(&common::lower("int main(void) { return 0; }\n"), &mut bytes)
        .expect("a vector takes everything");
    for end in [0, before, before + 1, bytes.len() / 2, bytes.len() - 1] {
        let reply = wire::decode_reply(&bytes[..end]);
        assert!(matches!(reply.outcome, FrontendReply::Cut), "{end}");
        assert_eq!(reply.input, (end > 0).then_some(3));
    }
}

#[test]
fn another_version_is_noticed() {
    let mut request = wire::encode_request(&Options::default()).expect("encodes");
    request[1] ^= 1;
    assert!(wire::decode_request(&request).is_err_and(|why| why.contains("its front end is version")));
    assert!(wire::decode_request(&[]).is_err());
    assert!(wire::decode_request(&[0xFF; 64]).is_err());
}
