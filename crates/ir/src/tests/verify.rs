//! One broken rule each; the message must name the place.

use super::program;
use crate::ids::{BlockId, FuncId, GlobalId, InstId, Slot, TypeId};
use crate::verify::verify;
use crate::{Block, Const, Copy, Edge, Function, Init, Inst, Opnd, Program, Range, Reloc, Symbol, Ty, text};

const GOOD: &str = "
file \"f.c\"
global $g size 8 align 8 = bytes \"0000000000000000\" { 0: @f }
func @f(%0 i32, %1 i1) -> (i32) {
  slot %0 i32 slot %1 i1 slot %2 i32 slot %3 ptr slot %4 i32
  object 0 \"o\" align 4
b0:
  %2 = add i32 %0, i32 1 at 0:1:1
  %3 = alloca 4, i32 i32 1, object 0
  %3 = gep %3, 0, [i32 %0 * 4]
  %2 = call @f(i32 %2, i1 %1)
  branch %1, b1 [%4 = %2], b2 [%4 = i32 3]
b1:
  switch i32 %4, b2 {1: b2, 2: b2}
b2:
  return (i32 %4)
}
";

/// Breaks the good program; a complaint must contain all the words.
fn breaks(change: impl FnOnce(&mut Program), words: &[&str]) {
    let mut p = program(GOOD);
    change(&mut p);
    let errors = verify(&p).expect_err("nothing was found");
    assert!(errors.iter().any(|e| words.iter().all(|w| e.contains(w))), "{words:?} not in {errors:#?}");
}

fn function(change: impl FnOnce(&mut Function), words: &[&str]) {
    breaks(|p| change(&mut p.functions[0]), words);
}

/// A body for `func @f(%0 i32, %1 i1, %2 ptr, %3 i64, %4 double)` with %5 to %9 of the same types again.
fn body(text: &str, words: &[&str]) {
    let tys = ["i32", "i1", "ptr", "i64", "double"];
    let params: Vec<String> = tys.iter().enumerate().map(|(i, t)| format!("%{i} {t}")).collect();
    let slots: Vec<String> = tys.iter().chain(&tys).enumerate().map(|(i, t)| format!("slot %{i} {t}")).collect();
    let text = format!("func @f({}) -> (i32) {{ {} b0: {text} }}", params.join(", "), slots.join(" "));
    let p = text::parse(&text).unwrap_or_else(|e| panic!("{e}"));
    let errors = verify(&p).expect_err("nothing was found");
    assert_eq!(errors.len(), 1, "{errors:#?}");
    assert!(words.iter().all(|w| errors[0].contains(w)), "{words:?} not in {errors:#?}");
}

#[test]
fn messages_name_function_block_and_instruction() {
    body(
        "%5 = mov %0 jump b1 b1: %5 = add i32 %5, i64 1 return (i32 %5)",
        &["function @f: block b1, instruction 2 `%5 = add i32 %5, i64 1`: operand #0 has 64 bits, not 32"],
    );
}

#[test]
fn indices_in_range() {
    function(|f| f.slots.truncate(4), &["slot %4 is out of range"]);
    function(|f| f.consts.truncate(1), &["constant 1 is out of range"]);
    function(|f| f.insts[2] = Inst::Mov { dst: Slot(99), a: Opnd::slot(Slot(0)) }, &["instruction 2", "slot %99"]);
    function(|f| f.scaled.clear(), &["address parts out of range"]);
    function(|f| f.objects.clear(), &["object out of range"]);
    function(|f| f.dsts.clear(), &["results out of range"]);
    function(|f| f.args.clear(), &["arguments out of range"]);
    function(|f| f.args.truncate(2), &["values out of range"]);
    function(|f| f.edges.clear(), &["edges out of range"]);
    function(|f| f.edges[0].target = BlockId(9), &["b0", "edge target b9 out of range"]);
    function(|f| f.copies.clear(), &["edge copies out of range"]);
    function(|f| f.cases.clear(), &["cases out of range"]);
    function(|f| f.cases[1].edge.target = BlockId(9), &["b1", "edge target b9"]);
    function(|f| f.edges[1].copies = Range { start: u32::MAX, len: u32::MAX }, &["edge copies out of range"]);
    function(|f| f.insts[0] = Inst::Unsupported { name: 0 }, &["name out of range"]);
    function(|f| f.spans[0].file = 7, &["file 7 is out of range"]);
    breaks(
        |p| {
            let f = &mut p.functions[0];
            if let Inst::Call { callee, .. } = &mut f.insts[3] {
                *callee = crate::Callee::Direct(FuncId(5));
            }
        },
        &["callee out of range"],
    );
}

#[test]
fn blocks_tile_the_instructions() {
    function(|f| f.blocks[1].first = InstId(4), &["block b1 starts at instruction 4, not 5"]);
    function(|f| f.blocks[2].len = 9, &["the blocks end at instruction 15, of 7"]);
    function(|f| f.blocks.push(Block { first: InstId(7), len: 0 }), &["block b3 is empty"]);
    function(|f| f.insts[0] = Inst::Unreachable, &["a terminator before the end"]);
    function(|f| f.insts[6] = Inst::Undef { dst: Slot(2) }, &["b2", "ends without a terminator"]);
    function(|f| f.spans.truncate(1), &["1 spans for 7 instructions"]);
    function(|f| f.block_weight.truncate(1), &["1 block weights for 3 blocks"]);
    function(|f| f.block_spans.truncate(1), &["1 block spans for 3 blocks"]);
}

#[test]
fn headers() {
    function(|f| f.params[0].slot = Slot(50), &["parameter 0 is in slot %50"]);
    function(|f| f.params[0].slot = Slot(1), &["parameter 0 is Int(32), its slot Int(1)"]);
    function(|f| f.params[1] = f.params[0].clone(), &["parameter 1 shares slot %0"]);
    function(|f| f.slots[2].ty = Ty::Int(0), &["slot %2 has no bits"]);
    function(|f| f.slots[2].debug_type = Some(TypeId(3)), &["type !3 is out of range"]);
    function(|f| f.labels.push(("out".to_owned(), BlockId(8))), &["label \"out\" is at block b8"]);
}

#[test]
fn constants() {
    let cases = [
        Const::Int { width: 8, value: 256 },
        Const::Int { width: 0, value: 0 },
        Const::Int { width: 65, value: 0 },
        Const::Wide { width: 128, limbs: vec![1] },
        Const::Wide { width: 80, limbs: vec![1, 1 << 20] },
        Const::Undef { width: 0 },
        Const::Addr { symbol: Symbol::Global(GlobalId(4)), addend: 0 },
        Const::Addr { symbol: Symbol::Block(FuncId(0), BlockId(4)), addend: 0 },
    ];
    for c in cases {
        function(|f| f.consts.push(c), &["constant 2 is malformed"]);
    }
}

#[test]
fn items() {
    breaks(|p| p.target.pointer_bytes = 3, &["pointers of 3 bytes"]);
    breaks(|p| _ = p.add_function(p.functions[0].clone()), &["@f", "the name is taken"]);
    breaks(|p| p.constructors.push(FuncId(9)), &["constructor: no function 9"]);
    breaks(|p| p.globals[0].size = 9, &["global $g: 8 bytes initialise 9"]);
    breaks(|p| p.globals[0].align = 3, &["alignment 3"]);
    breaks(|p| p.globals[0].ty = Some(TypeId(0)), &["its type"]);
    breaks(|p| p.types.push(crate::types::DebugType::Pointer { to: Some(TypeId(1)) }), &["type !0: no type !1"]);
    let reloc = |offset, symbol| {
        move |p: &mut Program| {
            if let Init::Bytes { relocs, .. } = &mut p.globals[0].init {
                relocs.push(Reloc { offset, symbol, addend: 0 });
            }
        }
    };
    breaks(reloc(1, Symbol::Function(FuncId(0))), &["a pointer at 1 lies outside"]);
    breaks(reloc(u64::MAX, Symbol::Function(FuncId(0))), &["lies outside"]);
    breaks(reloc(0, Symbol::Function(FuncId(7))), &["does not exist"]);
}

#[test]
fn widths() {
    let end = |s: &str| format!("{s} return (i32 %0)");
    let all: &[(&str, &str)] = &[
        ("%5 = add i32 %0, %3", "operand %3 has 64 bits, not 32"),
        ("%8 = add i32 %0, %0", "result %8 has 64 bits, not 32"),
        ("%5 = xor nsw i32 %0, %0", "no such promise"),
        ("%5 = cmp eq i32 %0, %0", "result %5 has 32 bits, not 1"),
        ("%6 = cmp eq i32 %0, i8 0", "has 8 bits, not 32"),
        ("%8 = trunc i32 %0 to i64", "wrong way"),
        ("%5 = zext i32 %0 to i32", "wrong way"),
        ("%5 = ptrtoint i64 %2 to i64", "result %5 has 32 bits"),
        ("%5 = select i32 %0, %0, %0", "operand %0 has 32 bits, not 1"),
        ("%8 = mov %0", "operand %0 has 32 bits, not 64"),
        ("%8 = freeze i32 %0", "result %8"),
        ("%5 = load i64 %2", "result %5 has 32 bits, not 64"),
        ("%5 = load i32 %0", "operand %0 has 32 bits, not 64"),
        ("store i64 %2, %0", "operand %0 has 32 bits, not 64"),
        ("%7 = gep %0, 0, []", "operand %0 has 32"),
        ("%7 = gep %2, 0, [i64 %0 * 1]", "operand %0 has 32 bits, not 64"),
        ("icall %0()", "operand %0 has 32"),
        ("call @f(i64 %0)", "operand %0 has 32"),
        ("call @f(i32 %0 byval 4)", "only a pointer passes by value"),
        ("%5 = scalar abs i32(i32 %0, i1 %1)", "takes 1 arguments and gives 1 results"),
        ("%5 = scalar sadd_overflow i32(i32 %0, i32 %0)", "gives 2 results"),
        ("%5 = scalar smin i32(i32 %0, i1 %1)", "operand %1 has 1 bits, not 32"),
        ("%5 = scalar is_fpclass double(double %4, i32 i32 3)", "not 1"),
        ("%5 = fadd float %4, i32 0", "operand %4 has 64 bits, not 32"),
        ("%5 = fneg double %4", "result %5"),
        ("%5 = fcmp oeq double %4, %4", "result %5 has 32 bits, not 1"),
        ("%5 = fcast to_signed float %4 to i32", "operand %4"),
        ("memcpy %2, %2, i32 %3", "operand %3 has 64 bits, not 32"),
        ("memset %2, %0, i64 %3", "operand %0 has 32 bits, not 8"),
        ("va_start %0", "operand %0"),
        ("va_copy %2, %0", "operand %0"),
        ("%5 = va_arg i64 %2", "result %5"),
        ("%5 = stack_save", "result %5"),
        ("stack_restore %0", "operand %0"),
        ("assume %0", "operand %0 has 32 bits, not 1"),
    ];
    for (inst, word) in all {
        body(&end(inst), &["block b0, instruction 0", word]);
    }
    body("branch %0, b1, b1 b1: return (i32 %0)", &["operand %0 has 32 bits, not 1"]);
    body("switch i32 %3, b1 {} b1: return (i32 %0)", &["operand %3"]);
    body("switch i32 %0, b1 {4294967296: b1} b1: return (i32 %0)", &["a case is too wide"]);
    body("switch i32 %0, b1 {1: b1, 1: b1} b1: return (i32 %0)", &["a case occurs twice"]);
    body("ijump %0 {b1} b1: return (i32 %0)", &["operand %0"]);
    body("jump b1 [%8 = %0] b1: return (i32 %0)", &["operand %0 has 32 bits, not 64"]);
    body("return ()", &["not what the function returns"]);
    body("return (i64 %3)", &["not what the function returns"]);
}

#[test]
fn defined_before_use() {
    body("%5 = add i32 %5, %0 return (i32 %5)", &["instruction 0", "slot %5 is not defined on every path"]);
    body("branch %1, b1, b2 b1: %5 = mov %0 jump b2 b2: return (i32 %5)", &["block b2", "slot %5"]);
    body("branch %1, b1 [%5 = %0], b1 b1: return (i32 %5)", &["block b1", "slot %5"]);
    body("jump b1 [%8 = %3, %5 = %0, %0 = %5, %3 = %8, %6 = %1, %1 = %6, %9 = %9] b1: return (i32 %0)", &["slot %9"]);
}

#[test]
fn defined_on_every_path() {
    program(
        "func @f(%0 i1) -> (i32) {
          slot %0 i1 slot %1 i32 slot %2 i32
        b0: %1 = undef
            branch %0, b1 [%2 = i32 1], b2
        b1: jump b3
        b2: %2 = mov %1
            branch %0, b2, b3
        b3: %1 = add i32 %1, %2
            return (i32 %1)
        b4: return (i32 %2)
        }",
    );
    let mut p = program(GOOD);
    let f = &mut p.functions[0];
    f.copies.push(Copy { dst: Slot(77), src: Opnd::constant(88) });
    f.edges.push(Edge { target: BlockId(77), copies: Range::default() });
    assert_eq!(verify(&p), Ok(()), "what no instruction names is not looked at");
}
