//! What has a contract, what is guessed, and the program that is made of it.

use pleach_contracts::Recursion;
use pleach_ir::Program;
use pleach_ir::text::parse;
use pleach_ir::verify::verify;

/// `add(a, b)` goes on until b is 0.
const ADD: &str = "
func @add(%0 i32 \"a\", %1 i32 \"b\") -> (i32) {
  slot %0 i32 \"a\"
  slot %1 i32 \"b\"
  slot %2 i1
  slot %3 i32
  slot %4 i32
  slot %5 i32
b0:
  %2 = cmp eq i32 %1, i32 0
  branch %2, b1, b2
b1:
  return (i32 %0)
b2:
  %3 = add i32 %0, i32 1
  %4 = sub i32 %1, i32 1
  %5 = call @add(i32 %3, i32 %4)
  return (i32 %5)
}
func @main() -> (i32) {
  slot %0 i32
b0:
  %0 = call @add(i32 i32 3, i32 i32 4)
  return (i32 %0)
}
";

fn recursion(program: &Program) -> Result<Recursion<'_>, String> {
    Recursion::of(program, program.function_named("main").ok_or("no main")?)
}

#[test]
fn an_equation_is_guessed_and_the_program_stays_a_program() {
    let program = parse(ADD).unwrap();
    let recursion = recursion(&program).unwrap();
    let mut contracts = recursion.first();
    contracts[0].requires.clear();
    recursion.guess_ensures(&mut contracts);
    let texts: Vec<String> = contracts[0].ensures.iter().map(|c| recursion.text(contracts[0].function, c)).collect();
    assert!(texts.contains(&"result == a + b".to_owned()), "{texts:?}");
    let made = recursion.abstracted(&contracts).unwrap();
    assert_eq!(verify(&made.program), Ok(()));
    assert_eq!(made.drivers, ["add.body"]);
    assert_eq!(made.checks.len(), contracts[0].ensures.len());
}

#[test]
fn what_is_required_is_checked_at_the_call() {
    let program = parse(ADD).unwrap();
    let recursion = recursion(&program).unwrap();
    let contracts = recursion.first();
    let made = recursion.abstracted(&contracts).unwrap();
    assert_eq!(made.checks.len(), contracts[0].requires.len());
    let stub = made.program.function_named("add.contract").unwrap();
    assert!(made.checks.keys().all(|(f, _)| *f == stub.0));
}

#[test]
fn a_result_that_was_never_written_is_refused() {
    let program =
        parse(&ADD.replace("  return (i32 %0)\n}\nfunc @main", "  return (i32 undef i32)\n}\nfunc @main")).unwrap();
    assert!(recursion(&program).is_ok(), "main is not recursive");
    let program = parse(&ADD.replacen("return (i32 %0)", "return (i32 undef i32)", 1)).unwrap();
    assert_eq!(recursion(&program).err(), Some("`add` may end without a result".into()));
    let program = parse(&ADD.replace("i32 i32 3", "i32 undef i32")).unwrap();
    assert_eq!(recursion(&program).err(), Some("`main` calls `add` with a value that was never written".into()));
}

#[test]
fn functions_without_recursion_need_no_contract() {
    let program = parse(&ADD.replace("call @add(i32 %3, i32 %4)", "add i32 %3, %4")).unwrap();
    let main = program.function_named("main").unwrap();
    assert!(!Recursion::is_there(&program, main));
}
