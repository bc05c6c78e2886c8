use super::words::{All, Word, ty_from_word, ty_word};
use super::{parse, print, print_function, print_inst};
use crate::inst::{BinOp, CastOp, CmpOp, FBinOp, FCastOp, FCmpOp, FloatTy, ScalarFn, Ty};
use crate::types::Encoding;
use crate::{FuncId, Inst, InstId, verify::verify};

const EVERYTHING: &str = r#"target "x86_64-pc-linux-gnu" ptr 8
file "src/a \"quoted\" file.c"
type base "int" 32 signed
type pointer !0
type pointer none
type array !0 10
type struct "point" 8 {"x" 0 !0, "flag" 4 bits 32 3 !0}
type union "empty" 0 {}
type enum "colour" 32 signed {"red" -1, "green" 2}
type enum "none" 8 unsigned {}
type function !0 {!0, !1}
type named "size_t" !0
type named "void_t" none
type unknown 3
remark "module asm \\ tab\u{9}"
constructor @start
destructor @"odd name"
global $g size 16 align 8 const tls !3 at 0:3:1 = bytes "00000000000000000102030405060708" { 0: $g + -8, 8: block @start b1 }
global $"" size 4 align 4 = zero
global $ext size 0 align 1 = external
global $strange size 8 align 8 = unsupported "blend"
func @start(%0 i32 "n" !0, %1 ptr byval 16 8 "s" !1, %2 double) -> (i32, ptr) variadic at 0:7:1 {
  slot %0 i32 "n" !0
  slot %1 ptr
  slot %2 double
  slot %3 i1
  slot %4 i64
  slot %5 ptr "p"
  slot %6 i32
  slot %7 i128
  slot %8 float
  object 0 "buf" align 16 !3
  object 1 "" align 1
  label "again" b1
b0 weight 7 spans [0:7:1, 0:8:3]:
  %6 = add nsw nuw i32 %0, i32 5 at 0:8:3
  %6 = sdiv exact i32 %0, %6
  %3 = cmp slt i32 %0, %6
  %4 = sext i32 %0 to i64
  %5 = inttoptr i64 %4 to i64
  %6 = select i32 %3, %0, i32 0
  %5 = mov $g + 4
  %5 = mov @"odd name"
  %5 = mov block @start b1
  %5 = mov $""
  %7 = mov wide i128 [0x1, 0xffffffffffffffff]
  %6 = freeze i32 undef i32
  %6 = undef
  %6 = load i32 %1
  %2 = load volatile double %1
  store ptr %1, %5
  store volatile i32 %1, i32 4294967295
  %5 = gep %1, -8, [i32 %0 * 4, i64 %4 * -16]
  %5 = gep $g, 0, []
  %5 = alloca 16, i64 i64 1, object 0
  %6, %5 = call @start(i32 %0, ptr %1 byval 16, double i64 0)
  call @"odd name"()
  %8 = undef
  icall %5(float %8)
  %6 = icall @"odd name"()
  %6, %3 = scalar sadd_overflow i32(i32 %0, i32 %6)
  %6 = scalar fshl i32(i32 %0, i32 %6, i32 i32 3)
  %3 = scalar is_fpclass double(double %2, i32 i32 3)
  %2 = fadd double %2, i64 4607182418800017408
  %2 = fneg double %2
  %3 = fcmp uno double %2, %2
  %8 = fcast resize double %2 to float
  %6 = fcast to_signed double %2 to i32
  memcpy %5, %1, i64 %4
  memmove %5, %1, i32 i32 8
  memset %5, i8 0, i64 i64 16
  va_start %5
  va_copy %5, %1
  va_end %5
  %6 = va_arg i32 %5
  %5 = stack_save
  stack_restore %5
  assume %3
  unsupported "llvm.strange"
  branch %3, b1 [%6 = %0, %4 = i64 1], b1
b1:
  switch i32 %6, b1 {0: b2, 7: b3 [%6 = i32 1]}
b2:
  ijump %5 {b1, b3 [%6 = %0]}
b3:
  switch i32 %6, b4 {}
b4 weight 1:
  jump b5 [%6 = undef i32] at 0:0:4
b5:
  branch %3, b6, b7
b6:
  return (i32 %6, ptr %5)
b7:
  unreachable
}
func @"odd name"() -> (i32) noreturn {
}
"#;

#[test]
fn everything_round_trips() {
    let p = parse(EVERYTHING).unwrap_or_else(|e| panic!("{e}"));
    verify(&p).unwrap_or_else(|e| panic!("{}", e.join("\n")));
    assert_eq!(print(&p), EVERYTHING);
    let kinds: std::collections::HashSet<_> = p.functions[0].insts.iter().map(std::mem::discriminant::<Inst>).collect();
    assert_eq!(kinds.len(), 33, "every kind of instruction is in the text");
}

#[test]
fn a_function_prints_alone() {
    let p = parse(EVERYTHING).unwrap();
    assert!(EVERYTHING.contains(&print_function(&p, FuncId(0))));
    assert_eq!(print_inst(&p, &p.functions[0], InstId(0)), "%6 = add nsw nuw i32 %0, i32 5");
}

fn all_words<T: Word + All + Copy + PartialEq + std::fmt::Debug>() {
    for &op in T::ALL {
        assert_eq!(T::from_word(op.word()), Some(op));
    }
}

#[test]
fn words_round_trip() {
    all_words::<BinOp>();
    all_words::<CmpOp>();
    all_words::<CastOp>();
    all_words::<FBinOp>();
    all_words::<FCmpOp>();
    all_words::<FCastOp>();
    all_words::<FloatTy>();
    all_words::<ScalarFn>();
    all_words::<Encoding>();
    for ty in FloatTy::ALL.iter().map(|&f| Ty::Float(f)).chain([Ty::Ptr, Ty::Int(1), Ty::Int(65535)]) {
        assert_eq!(ty_from_word(&ty_word(ty)), Some(ty));
    }
}

#[test]
fn names_that_occur_twice_are_numbered() {
    let text = "target \"\" ptr 8\nglobal $a size 1 align 1 = zero\nglobal $a size 8 align 1 = bytes \
                \"0000000000000000\" { 0: $#0 }\nfunc @f() -> () {\n  slot %0 ptr\nb0:\n  %0 = mov $#1\n  return ()\n}\n";
    assert_eq!(print(&parse(text).unwrap()), text);
}

#[test]
fn comments_and_white_space_do_not_matter() {
    let p = parse("func@f()->(){b0:return();the end\n}").unwrap();
    assert_eq!(print_function(&p, FuncId(0)), "func @f() -> () {\nb0:\n  return ()\n}\n");
}

#[test]
fn errors_name_their_line() {
    let cases = [
        ("func @f() -> () {\nb0:\n  %0 = frob i32 %0\n}", "line 3: `frob` is no instruction with a result"),
        ("func @f() -> () {\nb0:\n  call @g()\n}", "line 3: nothing is named Name(\"g\")"),
        ("func @f() -> () {\nb1:\n}", "line 2: blocks are numbered in order"),
        ("func @f() -> () {\nslot %1 i32\n}", "line 2: slots are declared in order"),
        ("func @f() -> () {\nb0:", "line 2: expected a block, found the end"),
        ("func @f() -> (i99999) {}", "line 1: expected a type, found `i99999`"),
        ("global $g size -1 align 1 = zero", "line 1: -1 is out of range"),
        ("global $g size 1 align 1 = bytes \"0\"", "line 1: bytes are pairs of hexadecimal digits"),
        ("\nremark \"open", "line 2: a string does not end on its line"),
        ("remark \"\\u{110000}\"", "line 1: `\\u{…}` is not a character"),
        ("?", "line 1: unexpected character '?'"),
        ("frob", "line 1: unknown item `frob`"),
        ("func @f() -> () { b0: %4294967295 = mov %4294967295 }", "line 1: the slot number is too large"),
        ("func @f() -> () { b0: %1, %2 = mov %3 }", "line 1: `mov` has one result"),
    ];
    for (text, message) in cases {
        match parse(text) {
            Ok(_) => panic!("{text:?} is accepted"),
            Err(e) => assert!(e.to_string().starts_with(message), "{e}"),
        }
    }
}

#[test]
fn no_prefix_of_a_program_panics() {
    for end in (0..EVERYTHING.len()).filter(|&i| EVERYTHING.is_char_boundary(i)) {
        if let Ok(p) = parse(&EVERYTHING[..end]) {
            print(&p);
            let _ = verify(&p);
        }
    }
}

#[test]
fn broken_programs_print() {
    let mut p = parse(EVERYTHING).unwrap();
    let f = &mut p.functions[0];
    (f.consts, f.args, f.dsts, f.copies) = Default::default();
    (f.edges, f.cases, f.scaled, f.names) = Default::default();
    f.spans.clear();
    f.blocks[7].len = 5;
    assert!(print(&p).contains("<bad constant"));
}
