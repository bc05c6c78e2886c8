//! Writes the text form. Accepts programs that fail `verify`: what lies outside a pool is written as `<bad …>`.

use super::words::{Word, ty_word};
use crate::ids::{BlockId, FuncId, GlobalId, InstId, TypeId};
use crate::inst::Opnd;
use crate::program::{Const, Function, Global, Init, Program, Span, StackObject, Symbol};
use crate::types::{DebugType, Member};
use rustc_hash::FxHashMap;
use std::fmt::Write;

/// The whole program.
pub fn print(p: &Program) -> String {
    let w = Printer::new(p);
    let mut out = format!("target {} ptr {}\n", quoted(&p.target.triple), p.target.pointer_bytes);
    for file in &p.files {
        let _ = writeln!(out, "file {}", quoted(&file.path));
    }
    for ty in &p.types {
        let _ = writeln!(out, "type {}", debug_type(ty));
    }
    for remark in &p.remarks {
        let _ = writeln!(out, "remark {}", quoted(remark));
    }
    for &f in &p.constructors {
        let _ = writeln!(out, "constructor {}", w.func(f));
    }
    for &f in &p.destructors {
        let _ = writeln!(out, "destructor {}", w.func(f));
    }
    for g in &p.globals {
        let _ = writeln!(out, "{}", w.global_item(g));
    }
    for f in &p.functions {
        w.function(f, &mut out);
    }
    out
}

/// One function as `print` writes it.
pub fn print_function(p: &Program, id: FuncId) -> String {
    let mut out = String::new();
    Printer::new(p).function(p.function(id), &mut out);
    out
}

/// One instruction, without its place.
pub fn print_inst(p: &Program, f: &Function, at: InstId) -> String {
    match f.insts.get(at.index()) {
        Some(inst) => Printer::new(p).inst(f, inst),
        None => format!("<bad instruction {}>", at.0),
    }
}

pub(super) struct Printer<'a> {
    p: &'a Program,
    funcs: FxHashMap<&'a str, u32>,
    globals: FxHashMap<&'a str, u32>,
}

impl<'a> Printer<'a> {
    fn new(p: &'a Program) -> Printer<'a> {
        let count = |names: &mut dyn Iterator<Item = &'a str>| {
            let mut times = FxHashMap::default();
            names.for_each(|n| *times.entry(n).or_insert(0) += 1);
            times
        };
        Printer {
            p,
            funcs: count(&mut p.functions.iter().map(|f| f.name.as_str())),
            globals: count(&mut p.globals.iter().map(|g| g.name.as_str())),
        }
    }

    pub(super) fn func(&self, id: FuncId) -> String {
        let name = self.p.functions.get(id.index()).map(|f| f.name.as_str());
        reference('@', id.0, name.filter(|n| self.funcs.get(n) == Some(&1)))
    }

    fn global(&self, id: GlobalId) -> String {
        let name = self.p.globals.get(id.index()).map(|g| g.name.as_str());
        reference('$', id.0, name.filter(|n| self.globals.get(n) == Some(&1)))
    }

    fn address(&self, symbol: Symbol, addend: i64) -> String {
        let name = match symbol {
            Symbol::Global(g) => self.global(g),
            Symbol::Function(f) => self.func(f),
            Symbol::Block(f, b) => format!("block {} b{}", self.func(f), b.0),
        };
        if addend == 0 { name } else { format!("{name} + {addend}") }
    }

    pub(super) fn opnd(&self, f: &Function, o: Opnd) -> String {
        let index = match o.kind() {
            crate::inst::OpndKind::Slot(s) => return format!("%{}", s.0),
            crate::inst::OpndKind::Const(c) => c,
        };
        match f.consts.get(index as usize) {
            Some(Const::Int { width, value }) => format!("i{width} {value}"),
            Some(Const::Wide { width, limbs }) => format!("wide i{width} [{}]", join(limbs, |l| format!("{l:#x}"))),
            Some(Const::Addr { symbol, addend }) => self.address(*symbol, *addend),
            Some(Const::Undef { width }) => format!("undef i{width}"),
            None => format!("<bad constant {index}>"),
        }
    }

    fn global_item(&self, g: &Global) -> String {
        let mut out = format!("global {} size {} align {}", name('$', &g.name), g.size, g.align);
        if g.constant {
            out += " const";
        }
        if g.thread_local {
            out += " tls";
        }
        if g.unnamed {
            out += " unnamed";
        }
        out += &described(None, g.ty);
        out += &place(g.span);
        out += " = ";
        match &g.init {
            Init::External => out += "external",
            Init::Zero => out += "zero",
            Init::Unsupported { what } => out += &format!("unsupported {}", quoted(what)),
            Init::Bytes { bytes, relocs } => {
                out += "bytes \"";
                bytes.iter().for_each(|b| out += &format!("{b:02x}"));
                out.push('"');
                if !relocs.is_empty() {
                    let reloc =
                        |r: &crate::program::Reloc| format!("{}: {}", r.offset, self.address(r.symbol, r.addend));
                    out += &format!(" {{ {} }}", join(relocs, reloc));
                }
            }
        }
        out
    }

    fn function(&self, f: &Function, out: &mut String) {
        let params = join(&f.params, |p| {
            let byval = p.byval.map_or(String::new(), |(size, align)| format!(" byval {size} {align}"));
            format!("%{} {}{byval}{}", p.slot.0, ty_word(p.ty), described(p.name.as_deref(), p.debug_type))
        });
        let _ = write!(out, "func {}({params}) -> ({})", name('@', &f.name), join(&f.results, |&r| ty_word(r)));
        for (on, word) in [(f.variadic, " variadic"), (f.noreturn, " noreturn")] {
            if on {
                *out += word;
            }
        }
        *out += &place(f.span);
        *out += " {\n";
        for (i, s) in f.slots.iter().enumerate() {
            let _ = writeln!(out, "  slot %{i} {}{}", ty_word(s.ty), described(s.name.as_deref(), s.debug_type));
        }
        for (i, StackObject { name, align, ty }) in f.objects.iter().enumerate() {
            let _ = writeln!(out, "  object {i} {} align {align}{}", quoted(name), described(None, *ty));
        }
        for (name, b) in &f.labels {
            let _ = writeln!(out, "  label {} b{}", quoted(name), b.0);
        }
        for b in (0..f.blocks.len()).map(BlockId::new) {
            self.block(f, b, out);
        }
        *out += "}\n";
    }

    fn block(&self, f: &Function, b: BlockId, out: &mut String) {
        let _ = write!(out, "b{}", b.0);
        if let Some(weight) = f.block_weight.get(b.index()).filter(|&&w| w != 0) {
            let _ = write!(out, " weight {weight}");
        }
        if let Some(spans) = f.block_spans.get(b.index()).filter(|s| !s.is_empty()) {
            let _ = write!(out, " spans [{}]", join(spans, |s| format!("{}:{}:{}", s.file, s.line, s.column)));
        }
        *out += ":\n";
        let block = f.blocks[b.index()];
        for i in block.first.index()..block.first.index() + block.len as usize {
            let Some(inst) = f.insts.get(i) else {
                let _ = writeln!(out, "  <bad instruction {i}>");
                break;
            };
            let span = f.spans.get(i).copied().unwrap_or_default();
            let _ = writeln!(out, "  {}{}", self.inst(f, inst), place(span));
        }
    }
}

pub(super) fn join<T>(items: &[T], show: impl FnMut(&T) -> String) -> String {
    items.iter().map(show).collect::<Vec<_>>().join(", ")
}

pub(super) fn quoted(s: &str) -> String {
    let mut out = String::with_capacity(s.len() + 2);
    out.push('"');
    for c in s.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out += &c.escape_unicode().to_string(),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn name(sigil: char, name: &str) -> String {
    let bare = !name.is_empty() && name.chars().all(super::lex::is_name_char);
    if bare { format!("{sigil}{name}") } else { format!("{sigil}{}", quoted(name)) }
}

fn reference(sigil: char, index: u32, unique: Option<&str>) -> String {
    unique.map_or_else(|| format!("{sigil}#{index}"), |n| name(sigil, n))
}

fn place(s: Span) -> String {
    if s == Span::default() { String::new() } else { format!(" at {}:{}:{}", s.file, s.line, s.column) }
}

fn described(name: Option<&str>, ty: Option<TypeId>) -> String {
    let name = name.map_or(String::new(), |n| format!(" {}", quoted(n)));
    name + &ty.map_or(String::new(), |t| format!(" !{}", t.0))
}

fn debug_type(ty: &DebugType) -> String {
    let optional = |t: &Option<TypeId>| t.map_or("none".to_owned(), |t| format!("!{}", t.0));
    let aggregate = |kind: &str, name: &str, size: u64, members: &[Member]| {
        let member = |m: &Member| {
            let bits = m.bits.map_or(String::new(), |(at, width)| format!(" bits {at} {width}"));
            format!("{} {}{bits} !{}", quoted(&m.name), m.offset, m.ty.0)
        };
        format!("{kind} {} {size} {{{}}}", quoted(name), join(members, member))
    };
    match ty {
        DebugType::Base { name, bits, encoding } => format!("base {} {bits} {}", quoted(name), encoding.word()),
        DebugType::Pointer { to } => format!("pointer {}", optional(to)),
        DebugType::Array { element, count } => format!("array !{} {count}", element.0),
        DebugType::Struct { name, size, members } => aggregate("struct", name, *size, members),
        DebugType::Union { name, size, members } => aggregate("union", name, *size, members),
        DebugType::Enum { name, bits, signed, variants } => {
            let sign = if *signed { "signed" } else { "unsigned" };
            let variants = join(variants, |(n, v)| format!("{} {v}", quoted(n)));
            format!("enum {} {bits} {sign} {{{variants}}}", quoted(name))
        }
        DebugType::Function { result, parameters } => {
            format!("function {} {{{}}}", optional(result), join(parameters, |t| format!("!{}", t.0)))
        }
        DebugType::Named { name, of } => format!("named {} {}", quoted(name), optional(of)),
        DebugType::Unknown { size } => format!("unknown {size}"),
    }
}
