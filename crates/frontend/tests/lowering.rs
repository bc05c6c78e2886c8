//! The shape of lowered code.

mod common;

use common::{lower, lower_text, lower_with, text};
use pleach_ir::types::{DebugType, Encoding};
use pleach_ir::{Const, Init, Inst, Opnd, Program, Symbol};

fn insts<'p>(program: &'p Program, name: &str) -> &'p [Inst] {
    &program.function(program.function_named(name).expect("function")).insts
}

#[test]
fn arithmetic_on_locals_needs_no_copies() {
    let program = lower("int f(int x) { x = x * 5 + 1; return x; }");
    assert!(
        matches!(insts(&program, "f"), [Inst::Bin { .. }, Inst::Bin { dst, .. }, Inst::Return { .. }] if dst.0 == 0),
        "{}",
        text(&program, "f")
    );
}

#[test]
fn a_counting_loop_is_tight() {
    let program = lower("int f(int n) { int s = 0; for (int i = 0; i < n; i++) s += i; return s; }");
    let shown = text(&program, "f");
    let movs = insts(&program, "f").iter().filter(|i| matches!(i, Inst::Mov { .. })).count();
    assert_eq!(movs, 2, "{shown}");
    // One jump is where the scope of `i` ends.
    assert_eq!(insts(&program, "f").len(), 11, "{shown}");
}

#[test]
fn locals_whose_address_is_taken_stay_in_memory() {
    let source = "void g(int *); int f(void) { int a = 1, b = 2; volatile int c = 3; g(&a); return a + b + c; }";
    let program = lower(source);
    let f = program.function(program.function_named("f").expect("f"));
    let mut names: Vec<&str> = f.objects.iter().map(|o| o.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["a", "c"], "{}", text(&program, "f"));
    assert!(f.slots.iter().any(|s| s.name.as_deref() == Some("b")));
    let kept = lower_with(source, |o| o.promote = false);
    assert_eq!(kept.function(kept.function_named("f").expect("f")).objects.len(), 3);
}

#[test]
fn covered_lines_survive_folding() {
    let program = lower("int f(int x) {\n  int y =\n    x;\n  y =\n    y;\n  return\n    y;\n}\n");
    let f = program.function(program.function_named("f").expect("f"));
    let mut lines: Vec<u32> = f.block_spans[0].iter().map(|s| s.line).collect();
    lines.dedup();
    assert_eq!(lines, [2, 3, 4, 5, 6, 7]);
    assert_eq!(f.block_weight[0], 9);
}

#[test]
fn swapping_phi_nodes_go_through_a_spare_slot() {
    let program = lower_text(
        "target datalayout = \"e-m:e-i64:64-n8:16:32:64-S128\"\n\
         define i32 @f(i1 %c) {\n\
         entry:\n  br label %loop\n\
         loop:\n  %a = phi i32 [ 1, %entry ], [ %b, %loop ]\n  %b = phi i32 [ 2, %entry ], [ %a, %loop ]\n\
         br i1 %c, label %loop, label %out\n\
         out:\n  %r = sub i32 %a, %b\n  ret i32 %r\n}\n",
    );
    let f = program.function(program.function_named("f").expect("f"));
    assert_eq!(f.copies.len(), 5, "{}", text(&program, "f"));
}

#[test]
fn initialisers_become_bytes_and_relocations() {
    let program = lower(
        "int t[4] = {1, 2}; int *p = &t[2]; int z[100]; extern int e; int *q = &e; int f(void) { return 0; }\n\
         int (*fp)(void) = f; const char *s = \"ab\" + 1; struct { char c; long l; void *v; } m = {3, -1, &m.l};",
    );
    let global = |name: &str| program.globals.iter().find(|g| g.name == name).expect("global");
    assert_eq!(global("z").init, Init::Zero);
    assert_eq!(global("e").init, Init::External);
    let relocs = |name: &str| match &global(name).init {
        Init::Bytes { relocs, .. } => relocs.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(relocs("p")[0].addend, 8);
    assert_eq!(relocs("s")[0].addend, 1);
    assert!(matches!(relocs("fp")[0].symbol, Symbol::Function(_)));
    assert_eq!((relocs("m")[0].offset, relocs("m")[0].addend), (16, 8));
    match &global("m").init {
        Init::Bytes { bytes, .. } => {
            assert_eq!(&bytes[..16], [3, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255])
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn source_types_are_kept() {
    let program = lower(
        "enum color { RED = -2, BLUE = 7 }; typedef struct list { struct list *next; unsigned char b : 3; enum color c; \
         double d[2][3]; } list; union u { int i; float f; }; _Bool flag; list head; union u un; const char *name;",
    );
    let ty = |name: &str| {
        let g = program.globals.iter().find(|g| g.name == name).expect("global");
        &program.types[g.ty.expect("type").index()]
    };
    assert_eq!(*ty("flag"), DebugType::Base { name: "_Bool".into(), bits: 8, encoding: Encoding::Bool });
    let DebugType::Named { name, of: Some(of) } = ty("head") else { panic!("{:?}", ty("head")) };
    assert_eq!(name, "list");
    let DebugType::Struct { name, size: 64, members } = &program.types[of.index()] else { panic!() };
    assert_eq!(name, "list");
    let names: Vec<(&str, u64)> = members.iter().map(|m| (m.name.as_str(), m.offset)).collect();
    assert_eq!(names, [("next", 0), ("b", 8), ("c", 12), ("d", 16)]);
    assert_eq!(members[1].bits, Some((64, 3)));
    let DebugType::Enum { variants, signed, .. } = &program.types[members[2].ty.index()] else { panic!() };
    assert_eq!(*variants, [("RED".to_owned(), -2), ("BLUE".to_owned(), 7)]);
    assert!(signed);
    let DebugType::Array { element, count: 2 } = program.types[members[3].ty.index()] else { panic!() };
    assert!(matches!(program.types[element.index()], DebugType::Array { count: 3, .. }));
    assert!(matches!(ty("un"), DebugType::Union { size: 4, .. }));
    assert!(matches!(ty("name"), DebugType::Pointer { to: Some(_) }));
}

#[test]
fn parameters_have_names_and_types() {
    let program =
        lower("struct big { long a[5]; }; long f(int count, struct big b, char *s) { return count + b.a[1] + *s; }");
    let f = program.function(program.function_named("f").expect("f"));
    let names: Vec<Option<&str>> = f.params.iter().map(|p| p.name.as_deref()).collect();
    assert_eq!(names, [Some("count"), Some("b"), Some("s")]);
    assert_eq!(f.params[1].byval, Some((40, 8)));
    assert!(f.params.iter().all(|p| p.debug_type.is_some()));
}

#[test]
fn what_is_not_supported_ends_only_its_path() {
    let program = lower("int f(int x) { if (x) __asm__ volatile(\"cpuid\" ::: \"eax\"); return x; }");
    let f = program.function(program.function_named("f").expect("f"));
    assert_eq!(f.names, ["inline assembly \"cpuid\""]);
    assert_eq!(f.insts.iter().filter(|i| matches!(i, Inst::Unsupported { .. })).count(), 1);
    let barrier = lower("void f(void) { __asm__ volatile(\"\" ::: \"memory\"); }");
    assert!(matches!(insts(&barrier, "f"), [Inst::Return { .. }]));
}

#[test]
fn calls_through_aliases_and_casts_are_direct() {
    let program = lower(
        "int f(int x) { return x; } int g(int) __attribute__((alias(\"f\"))); int h(void) { return g(1) + ((int (*)(int))f)(2); }",
    );
    let f = program.function_named("f").expect("f");
    assert_eq!(program.function_named("g"), Some(f));
    let direct = |i: &&Inst| matches!(i, Inst::Call { callee, .. } if *callee == pleach_ir::Callee::Direct(f));
    assert_eq!(insts(&program, "h").iter().filter(direct).count(), 2, "{}", text(&program, "h"));
}

#[test]
fn addresses_fold_constant_parts() {
    let source = "struct s { int pad; struct { char c; int v[8]; } in[4]; }; int f(struct s *p, int i) { return p->in[i].v[3]; }";
    let program = lower(source);
    let geps: Vec<&Inst> = insts(&program, "f").iter().filter(|i| matches!(i, Inst::Gep { .. })).collect();
    let [Inst::Gep { offset: 20, parts, .. }] = geps[..] else { panic!("{}", text(&program, "f")) };
    let f = program.function(program.function_named("f").expect("f"));
    let [part] = f.scaled[parts.as_range()] else { panic!() };
    assert_eq!((part.width, part.scale, part.index), (32, 36, Opnd::slot(f.params[1].slot)));
}

#[test]
fn weak_symbols_without_definition_are_null() {
    let program = lower("extern int w __attribute__((weak)); int f(void) { return &w != 0; }");
    let f = program.function(program.function_named("f").expect("f"));
    assert!(!f.consts.iter().any(|c| matches!(c, Const::Addr { .. })), "{}", text(&program, "f"));
}

#[test]
fn labels_of_the_source_are_known() {
    let program = lower("int f(int x) { again: x--; if (x > 0) goto again; return x; }");
    let f = program.function(program.function_named("f").expect("f"));
    assert_eq!(f.labels.iter().map(|(n, _)| n.as_str()).collect::<Vec<_>>(), ["again"]);
}

#[test]
fn constructors_are_ordered_by_priority() {
    let program = lower(
        "__attribute__((constructor(300))) void c(void) {} __attribute__((constructor(200))) void b(void) {}\n\
         __attribute__((constructor)) void d(void) {} __attribute__((destructor)) void e(void) {}",
    );
    let names: Vec<&str> = program.constructors.iter().map(|f| program.function(*f).name.as_str()).collect();
    assert_eq!(names, ["b", "c", "d"]);
    assert_eq!(program.destructors.len(), 1);
}

#[test]
fn the_32_bit_target_has_32_bit_pointers() {
    let program = lower_with("char *f(char *p, int i) { return p + i; } int n = sizeof(void *);", |o| o.m32 = true);
    assert_eq!(program.target.pointer_bytes, 4);
    let n = program.globals.iter().find(|g| g.name == "n").expect("n");
    assert!(matches!(&n.init, Init::Bytes { bytes, .. } if bytes == &[4, 0, 0, 0]));
}

#[test]
fn wide_constants_and_unusual_widths() {
    let program =
        lower("unsigned _BitInt(200) f(unsigned _BitInt(200) x) { return x + 123456789012345678901234567890uwb; }");
    let f = program.function(program.function_named("f").expect("f"));
    assert!(
        f.consts.iter().any(|c| matches!(c, Const::Wide { width: 200, limbs } if limbs[1] == 6692605942)),
        "{:?}",
        f.consts
    );
}
