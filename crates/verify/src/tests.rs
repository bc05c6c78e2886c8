//! A program for tests: a call in the middle of a block, a label, an assertion, a function that nothing calls.

use pleach_ir::Program;

pub fn program() -> Program {
    pleach_ir::text::parse(TEXT).unwrap_or_else(|e| panic!("{e}"))
}

const TEXT: &str = r#"target "x86_64-pc-linux-gnu" ptr 8
file "/x/src/a.c"
func @helper(%0 i32 "n") -> () at 0:2:1 {
  slot %0 i32 "n"
b0 weight 1 spans [0:3:1]:
  return () at 0:3:1
}
func @unused() -> () at 0:5:1 {
b0 weight 1 spans [0:5:20]:
  return () at 0:5:20
}
func @__assert_fail() -> () { }
func @main() -> (i32) at 0:8:1 {
  slot %0 i32
  slot %1 i1
  label "OUT" b2
b0 weight 5 spans [0:9:3, 0:10:3, 0:12:7]:
  %0 = mov i32 4 at 0:9:3
  call @helper(i32 %0) at 0:10:3
  %0 = add i32 %0, i32 1 at 0:12:7
  %1 = cmp slt i32 %0, i32 9 at 0:12:7
  branch %1, b1, b2 at 0:12:7
b1 weight 1 spans [0:13:5]:
  call @__assert_fail() at 0:13:5
  unreachable at 0:13:5
b2 weight 1 spans [0:15:3]:
  return (i32 %0) at 0:15:3
}
"#;
