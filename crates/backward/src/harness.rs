//! An input as C: a program that builds it and calls the entry, and the precondition that it satisfies.

use crate::heap::{Field, InputHeap, InputValue, Object, ObjectId};
use crate::stream::takes;
use crate::types::{self, LeafKind};
use pleach_expr::{mask, sign_extend};
use pleach_ir::types::{DebugType, Encoding};
use pleach_ir::{Callee, FuncId, Inst, Program, Ty, TypeId};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Turns bit patterns into numbers where C has no literal for them.
const FLOATS: &str = "static float pleach_f(unsigned v) { float f; __builtin_memcpy(&f, &v, 4); return f; }
static double pleach_d(unsigned long long v) { double d; __builtin_memcpy(&d, &v, 8); return d; }
";

/// A C program that includes `source`, builds the input and calls the entry. `renames_main`: the source has a `main`.
pub fn harness(program: &Program, entry: FuncId, heap: &InputHeap, source: &str, renames_main: bool) -> String {
    let name = &program.function(entry).name;
    let mut out = format!("/* Builds an input of {name} and calls it. Made by `pleach reach --backward`. */\n");
    let asked = included(program, source, renames_main, has_floats(heap), &mut out);
    let callbacks = callbacks(heap);
    if !asked.is_empty() || !callbacks.is_empty() {
        out.push_str(&bytes(&heap.stream));
        out.push_str(&stream(&asked));
        define(program, &callbacks, &mut out);
    }
    out.push_str("\nint main(void) {\n");
    call(program, entry, heap, renames_main, &mut out);
    out.push_str("  return 0;\n}\n");
    out
}

/// A C program that builds one of many inputs, by its number, and calls its entry.
pub fn harness_of_many(program: &Program, inputs: &[(FuncId, &InputHeap)], source: &str, renames_main: bool) -> String {
    let mut out = String::from("/* Builds one of many inputs. Made by `pleach reach --backward`. */\n");
    let floats = inputs.iter().any(|(_, heap)| has_floats(heap));
    let asked = included(program, source, renames_main, floats, &mut out);
    let callbacks: BTreeSet<(u32, TypeId)> = inputs.iter().flat_map(|(_, heap)| callbacks(heap)).collect();
    let takes = !asked.is_empty() || !callbacks.is_empty();
    if takes {
        let longest = inputs.iter().map(|(_, h)| h.stream.len()).max().unwrap_or(0).max(1);
        let _ = writeln!(out, "static unsigned char pleach_bytes[{longest}];");
        out.push_str(&stream(&asked));
        define(program, &callbacks, &mut out);
    }
    for (k, (entry, heap)) in inputs.iter().enumerate() {
        let _ = writeln!(out, "\nstatic void pleach_input_{k}(void) {{");
        if takes {
            for (i, b) in heap.stream.iter().enumerate().filter(|(_, b)| **b != 0) {
                let _ = writeln!(out, "  pleach_bytes[{i}] = {b};");
            }
        }
        call(program, *entry, heap, renames_main, &mut out);
        out.push_str("}\n");
    }
    out.push_str("\nint main(int argc, char **argv) {\n  switch (argc > 1 ? atoi(argv[1]) : 0) {\n");
    for k in 0..inputs.len() {
        let _ = writeln!(out, "  case {k}: pleach_input_{k}(); break;");
    }
    out.push_str("  }\n  return 0;\n}\n");
    out
}

/// The functions that the input has, by number and type.
fn callbacks(heap: &InputHeap) -> BTreeSet<(u32, TypeId)> {
    let fields = heap.objects.iter().flat_map(|o| o.fields.iter().map(|f| f.value));
    let all = heap.parameters.iter().map(|p| p.value).chain(fields);
    let found = all.filter_map(|v| match v {
        InputValue::Callback(ty, n) => Some((n, ty)),
        _ => None,
    });
    found.collect()
}

fn callback_name(n: u32, ty: TypeId) -> String {
    format!("pleach_callback_{}_{}", n + 1, ty.0)
}

/// Callbacks change nothing. Numbers that they return are taken from the stream, all else is 0.
fn define(program: &Program, callbacks: &BTreeSet<(u32, TypeId)>, out: &mut String) {
    for &(n, ty) in callbacks {
        let name = callback_name(n, ty);
        let Some((result, parameters)) = types::signature(program, ty) else { continue };
        let spelled: Option<Vec<String>> = parameters.iter().map(|t| types::spelling(program, *t)).collect();
        let list = match spelled {
            Some(all) if all.is_empty() => "void".to_owned(),
            Some(all) => all.iter().enumerate().map(|(i, t)| format!("{t} a{i}")).collect::<Vec<_>>().join(", "),
            // The caller's types are not known here, and no argument is used.
            None => String::new(),
        };
        let Some(result) = result else {
            let _ = writeln!(out, "static void {name}({list}) {{}}");
            continue;
        };
        let spelled = types::spelling(program, result).unwrap_or_else(|| "int".into());
        let kind = program.types.get(types::resolve(program, result).index());
        let is_number = match kind {
            Some(DebugType::Base { encoding, .. }) => *encoding != Encoding::Float,
            kind => matches!(kind, Some(DebugType::Enum { .. })),
        };
        let take = if is_number { " pleach_take(&v, sizeof v);" } else { "" };
        let zero = "__builtin_memset(&v, 0, sizeof v);";
        let _ = writeln!(out, "static {spelled} {name}({list}) {{ {spelled} v; {zero}{take} return v; }}");
    }
}

fn has_floats(heap: &InputHeap) -> bool {
    heap.parameters.iter().any(|p| matches!(p.ty, Ty::Float(_)))
        || heap.objects.iter().any(|o| o.fields.iter().any(|f| f.leaf.kind == LeafKind::Float))
}

/// The source and what is needed next to it; the functions that ask for inputs.
fn included(program: &Program, source: &str, renames_main: bool, floats: bool, out: &mut String) -> BTreeSet<String> {
    if renames_main {
        let _ = writeln!(out, "#define main pleach_program_main");
    }
    let asked = asked(program, source);
    for name in asked.iter().filter(|n| n.starts_with("klee_")) {
        let _ = writeln!(out, "#define {name} pleach_{name}");
    }
    let _ = writeln!(out, "#include \"{source}\"");
    if renames_main {
        let _ = writeln!(out, "#undef main");
    }
    out.push_str("#include <stdlib.h>\n");
    if floats {
        out.push_str(FLOATS);
    }
    asked
}

/// Builds the input and calls the entry.
fn call(program: &Program, entry: FuncId, heap: &InputHeap, renames_main: bool, out: &mut String) {
    let f = program.function(entry);
    for (i, o) in heap.objects.iter().enumerate() {
        let _ = writeln!(out, "  {}", declaration(program, i, o));
    }
    for (i, o) in heap.objects.iter().enumerate() {
        for field in o.fields.iter().filter(|f| !is_zero(f.value)) {
            let _ = writeln!(out, "  {} = {};", place(program, i, o, field), value(program, heap, field));
        }
    }
    let name = if f.name == "main" && renames_main { "pleach_program_main" } else { f.name.as_str() };
    let args: Vec<String> = heap.parameters.iter().map(|p| argument(program, p.ty, p.debug_type, p.value)).collect();
    let _ = writeln!(out, "  {name}({});", args.join(", "));
}

/// Functions without a body that ask for inputs, called in this source.
fn asked(program: &Program, source: &str) -> BTreeSet<String> {
    let own = program.functions.iter().filter(|f| {
        let path = program.path(f.span);
        !f.is_declaration() && (path == source || path.ends_with(".h"))
    });
    let called = own.flat_map(|f| &f.insts).filter_map(|i| match i {
        Inst::Call { callee: Callee::Direct(g), .. } => Some(program.function(*g)),
        _ => None,
    });
    called.filter(|g| takes(g).is_some()).map(|g| g.name.clone()).collect()
}

fn bytes(bytes: &[u8]) -> String {
    let mut out = String::from("\nstatic const unsigned char pleach_bytes[] = {");
    for (i, b) in bytes.iter().enumerate() {
        let _ = write!(out, "{}{b}", if i == 0 { "" } else { ", " });
    }
    out.push_str(if bytes.is_empty() { "0};\n" } else { "};\n" });
    out
}

/// The definitions of functions that ask for inputs: each takes the next bytes.
fn stream(asked: &BTreeSet<String>) -> String {
    let mut out = String::from(
        "static unsigned long pleach_taken;
static void pleach_take(void *to, unsigned long n) {
  for (unsigned long i = 0; i < n; i++, pleach_taken++)
    ((unsigned char *)to)[i] = pleach_taken < sizeof pleach_bytes ? pleach_bytes[pleach_taken] : 0;
}
",
    );
    for name in asked {
        let _ = match name.as_str() {
            "klee_make_symbolic" => writeln!(
                out,
                "void klee_make_symbolic(void *to, unsigned long n, const char *name) {{ pleach_take(to, n); }}"
            ),
            "__VERIFIER_nondet_memory" => {
                writeln!(out, "void {name}(void *to, unsigned long n) {{ pleach_take(to, n); }}")
            }
            "klee_int" => {
                writeln!(out, "int klee_int(const char *name) {{ int v = 0; pleach_take(&v, sizeof v); return v; }}")
            }
            _ => writeln!(
                out,
                "__typeof__({name}()) {name}(void) {{ __typeof__({name}()) v; pleach_take(&v, sizeof v); return v; }}"
            ),
        };
    }
    out
}

/// The input as equations in C, one per line: what the parameters are, and what they lead to.
pub fn precondition(program: &Program, heap: &InputHeap) -> Vec<String> {
    let mut lines = Vec::new();
    for p in &heap.parameters {
        lines.push(format!("{} == {}", p.name, argument(program, p.ty, p.debug_type, p.value)));
    }
    for (i, o) in heap.objects.iter().enumerate() {
        for field in &o.fields {
            lines.push(format!("{} == {}", place(program, i, o, field), value(program, heap, field)));
        }
    }
    let used = heap.stream.iter().rposition(|b| *b != 0).map_or(0, |i| i + 1);
    if !heap.stream.is_empty() {
        let all: Vec<String> = heap.stream[..used].iter().map(|b| format!("{b:02x}")).collect();
        lines.push(format!(
            "the bytes it asks for are {}",
            if used == 0 { "0".into() } else { all.join(" ") + ", then 0" }
        ));
    }
    lines
}

/// The input heap as a graph for Graphviz.
pub fn picture(program: &Program, heap: &InputHeap) -> String {
    let mut out = String::from("digraph heap {\n  rankdir=LR;\n  node [shape=record];\n");
    let target = |out: &mut String, from: String, v: InputValue| match v {
        InputValue::Object(ObjectId(i)) => drop(writeln!(out, "  {from} -> {};", object_name(i as usize))),
        InputValue::Null => {
            let null = format!("null_{}", from.replace(':', "_"));
            let _ = writeln!(out, "  {null} [label=\"null\", shape=plaintext];\n  {from} -> {null};");
        }
        InputValue::Number(_) | InputValue::Opaque | InputValue::Callback(..) => {}
    };
    for p in &heap.parameters {
        let shown = match p.value {
            InputValue::Number(_) => format!("{} = {}", p.name, argument(program, p.ty, p.debug_type, p.value)),
            _ => p.name.clone(),
        };
        let _ = writeln!(out, "  p_{} [label=\"{}\", shape=ellipse];", p.name, shown);
        target(&mut out, format!("p_{}", p.name), p.value);
    }
    for (i, o) in heap.objects.iter().enumerate() {
        let mut cells = vec![object_name(i)];
        for (k, field) in o.fields.iter().enumerate() {
            let name = field_name(o, field);
            cells.push(match field.value {
                InputValue::Number(_) => format!("<f{k}> {name} = {}", value(program, heap, field)),
                _ => format!("<f{k}> {name}"),
            });
        }
        let _ = writeln!(out, "  {} [label=\"{}\"];", object_name(i), cells.join("|"));
        for (k, field) in o.fields.iter().enumerate() {
            target(&mut out, format!("{}:f{k}", object_name(i)), field.value);
        }
    }
    out.push_str("}\n");
    out
}

pub(crate) fn object_name(i: usize) -> String {
    format!("o{}", i + 1)
}

fn declaration(program: &Program, i: usize, o: &Object) -> String {
    let name = object_name(i);
    match types::spelling(program, o.ty).filter(|_| !o.raw) {
        Some(ty) => format!("{ty} *{name} = calloc({}, sizeof *{name});", o.count),
        None => {
            let size = types::size(program, o.ty) * o.count;
            format!("unsigned char *{name} = calloc(1, {size});")
        }
    }
}

pub(crate) fn field_name(o: &Object, field: &Field) -> String {
    let path = field.leaf.path.trim_start_matches('.');
    match (o.raw, o.count) {
        (true, _) => format!("byte {}", field.leaf.offset),
        (false, 1) => path.to_owned(),
        (false, _) => format!("[{}]{}", field.element, field.leaf.path),
    }
}

/// The field as C writes to it.
fn place(program: &Program, i: usize, o: &Object, field: &Field) -> String {
    let name = object_name(i);
    if o.raw {
        return format!("{name}[{}]", field.leaf.offset);
    }
    if types::spelling(program, o.ty).is_none() {
        let at = field.element * types::size(program, o.ty) + field.leaf.offset;
        let ty = match (field.leaf.kind, field.leaf.bytes) {
            (LeafKind::Pointer(_), _) => "void *",
            (LeafKind::Float, 4) => "float",
            (LeafKind::Float, _) => "double",
            (_, 1) => "unsigned char",
            (_, 2) => "unsigned short",
            (_, 4) => "unsigned",
            _ => "unsigned long long",
        };
        return format!("*({ty} *)({name} + {at})");
    }
    match field.leaf.path.strip_prefix('.') {
        Some(path) if o.count == 1 => format!("{name}->{path}"),
        _ => format!("{name}[{}]{}", field.element, field.leaf.path),
    }
}

fn is_zero(v: InputValue) -> bool {
    matches!(v, InputValue::Number(0) | InputValue::Null)
}

pub(crate) fn value(program: &Program, heap: &InputHeap, field: &Field) -> String {
    match field.value {
        InputValue::Null => "0".into(),
        InputValue::Opaque => "malloc(64)".into(),
        InputValue::Callback(ty, n) => format!("(void *){}", callback_name(n, ty)),
        InputValue::Object(ObjectId(i)) => {
            let raw = heap.objects.get(i as usize).is_some_and(|o| o.raw || types::spelling(program, o.ty).is_none());
            if raw { format!("(void *){}", object_name(i as usize)) } else { object_name(i as usize) }
        }
        InputValue::Number(v) => match field.leaf.kind {
            LeafKind::Float if field.leaf.bytes == 4 => format!("pleach_f({v:#x}u)"),
            LeafKind::Float => format!("pleach_d({v:#x}ull)"),
            LeafKind::Int { signed: true } => integer(v, (field.leaf.bytes * 8) as u16, true),
            _ => integer(v, (field.leaf.bytes * 8) as u16, false),
        },
    }
}

pub(crate) fn argument(program: &Program, ty: Ty, debug: Option<TypeId>, v: InputValue) -> String {
    match (v, ty) {
        (InputValue::Null, _) => "0".into(),
        (InputValue::Opaque, _) => "malloc(64)".into(),
        (InputValue::Callback(ty, n), _) => format!("(void *){}", callback_name(n, ty)),
        (InputValue::Object(ObjectId(i)), _) => object_name(i as usize),
        (InputValue::Number(v), Ty::Float(f)) if f.bits() == 32 => format!("pleach_f({v:#x}u)"),
        (InputValue::Number(v), Ty::Float(_)) => format!("pleach_d({v:#x}ull)"),
        (InputValue::Number(v), ty) => integer(v, program.target.bits(ty), is_signed(program, debug)),
    }
}

fn is_signed(program: &Program, ty: Option<TypeId>) -> bool {
    match ty.and_then(|t| program.types.get(types::resolve(program, t).index())) {
        Some(DebugType::Base { encoding, .. }) => matches!(encoding, Encoding::Signed | Encoding::SignedChar),
        Some(DebugType::Enum { signed, .. }) => *signed,
        _ => false,
    }
}

/// The least number of each type has no literal of that type.
fn integer(v: u64, bits: u16, signed: bool) -> String {
    if !signed {
        let v = v & mask(bits);
        return match v {
            v if v > u64::from(u32::MAX) => format!("{v}ull"),
            v if v > i32::MAX as u64 => format!("{v}u"),
            v => v.to_string(),
        };
    }
    let v = sign_extend(v, bits);
    match v {
        i64::MIN => "(-9223372036854775807ll - 1)".into(),
        v if v == i64::from(i32::MIN) => "(-2147483647 - 1)".into(),
        v if v.unsigned_abs() > i32::MAX as u64 => format!("{v}ll"),
        v => v.to_string(),
    }
}
