//! Of a module of textual IR, what the entry needs.
//!
//! The compiler gives the standard library whole: thousands of functions, most of which nothing calls. What is not
//! reachable by names from `main` and from functions with names of their own (`#[no_mangle]`) is left out before LLVM
//! sees it. Functions that panic are modelled by the engine: what their bodies use (formatting, unwinding, printing of
//! the stack) is not needed.
//!
//! *Direction*: a name that is missed is a declaration that is missing, which LLVM's reader refuses.

use super::replaced::{ARGUMENTS, Replaced};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// A definition at the top of the module.
#[derive(Clone)]
struct Item {
    lines: Range<usize>,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Function,
    Global,
    Metadata,
    /// the list of compilation units
    Units,
    /// names of types, attributes, flags
    Other,
}

/// What a piece of text refers to.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Name<'t> {
    Symbol(&'t [u8]),
    Metadata(&'t [u8]),
}

impl<'t> Name<'t> {
    fn text(self) -> &'t [u8] {
        match self {
            Name::Symbol(text) | Name::Metadata(text) => text,
        }
    }
}

/// The module with what is reachable; some functions replaced.
pub(super) fn from_entry(text: &[u8]) -> Vec<u8> {
    let items = items(text);
    let mut by_name: FxHashMap<Name, usize> = FxHashMap::default();
    for (i, item) in items.iter().enumerate() {
        if let Some(name) = defined(text, item) {
            by_name.insert(name, i);
        }
    }
    let replaced = |arguments| {
        Replaced::new(arguments, |wanted| {
            let found = by_name.iter().find(|(n, _)| matches!(n, Name::Symbol(n) if wanted(n)));
            found.map(|(n, i)| (n.text(), &text[items[*i].lines.clone()]))
        })
    };
    let looks_at_arguments = |kept: &[bool]| {
        let is_one = |n: &[u8]| ARGUMENTS.iter().any(|path| n.ends_with(path.as_bytes()));
        by_name.iter().any(|(n, i)| matches!(n, Name::Symbol(n) if is_one(n)) && kept[*i])
    };
    let without = replaced(false);
    let kept = reachable(text, &items, &by_name, &without);
    if looks_at_arguments(&kept) {
        let with = replaced(true);
        let kept = reachable(text, &items, &by_name, &with);
        return print(text, &items, &by_name, &kept, &with);
    }
    print(text, &items, &by_name, &kept, &without)
}

/// Which items are.
fn reachable(text: &[u8], items: &[Item], by_name: &FxHashMap<Name, usize>, replaced: &Replaced) -> Vec<bool> {
    let mut kept = vec![false; items.len()];
    let mut open: Vec<usize> = Vec::new();
    let keep = |i: usize, kept: &mut Vec<bool>, open: &mut Vec<usize>| {
        if !std::mem::replace(&mut kept[i], true) {
            open.push(i);
        }
    };
    for (i, item) in items.iter().enumerate() {
        let root = match item.kind {
            Kind::Other => true,
            Kind::Units | Kind::Metadata | Kind::Global => false,
            Kind::Function => defined(text, item).is_some_and(is_own_name) && text[item.lines.start] == b'd',
        };
        if root && !is_declaration(text, item) {
            keep(i, &mut kept, &mut open);
        }
    }
    while let Some(i) = open.pop() {
        let what = written(text, &items[i], replaced);
        references(&what, |name| {
            if let Some(j) = by_name.get(&name) {
                keep(*j, &mut kept, &mut open);
            }
        });
    }
    kept
}

fn print(text: &[u8], items: &[Item], by_name: &FxHashMap<Name, usize>, kept: &[bool], replaced: &Replaced) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() / 2);
    for (i, item) in items.iter().enumerate() {
        match item.kind {
            Kind::Units => {
                out.extend(units(&text[item.lines.clone()], |name| by_name.get(name).is_some_and(|j| kept[*j])))
            }
            _ if kept[i] => out.extend_from_slice(&written(text, item, replaced)),
            _ => {}
        }
    }
    out.extend_from_slice(replaced.declarations.as_bytes());
    out
}

/// The text of an item as it is to be: functions replaced, those that panic without their bodies.
fn written<'a>(text: &'a [u8], item: &Item, replaced: &'a Replaced) -> std::borrow::Cow<'a, [u8]> {
    let whole = &text[item.lines.clone()];
    let Some(Name::Symbol(name)) = defined(text, item) else { return whole.into() };
    if item.kind != Kind::Function || is_declaration(text, item) {
        return whole.into();
    }
    if let Some(body) = replaced.body(name) {
        return body.into();
    }
    let panics = std::str::from_utf8(name).is_ok_and(|n| pleach_ir::rust::panic_function(n).is_some());
    if !panics {
        return whole.into();
    }
    let header = whole.split(|b| *b == b'\n').next().unwrap_or_default();
    let header = header.split(|b| *b == b'{').next().unwrap_or_default();
    if !whole[header.len()..].starts_with(b"{\n") {
        return whole.into();
    }
    [header, b"{\n  unreachable\n}\n"].concat().into()
}

fn is_declaration(text: &[u8], item: &Item) -> bool {
    text[item.lines.clone()].starts_with(b"declare")
}

/// Whether there are functions to be called before `main`, besides that of the standard library, which keeps the
/// arguments.
pub(super) fn runs_before_main(text: &[u8]) -> bool {
    const SECTIONS: [&str; 3] = [", section \".init_array", ", section \".preinit_array", ", section \".ctors"];
    let globals = text.split(|b| *b == b'\n').take_while(|l| !l.starts_with(b"define")).filter(|l| l.starts_with(b"@"));
    let mut globals = globals.filter_map(|l| std::str::from_utf8(l).ok());
    globals.any(|l| {
        let standard = l.split(' ').next().is_some_and(|name| name.ends_with("3imp15ARGV_INIT_ARRAY"));
        l.starts_with("@llvm.global_ctors ") || !standard && SECTIONS.iter().any(|s| l.contains(s))
    })
}

/// Names that are not mangled are the program's interface: `main`, and what is marked so.
fn is_own_name(name: Name) -> bool {
    let Name::Symbol(name) = name else { return false };
    !name.starts_with(b"_R") && !name.starts_with(b"_Z") && !name.starts_with(b"rust_") && !name.starts_with(b"__rust")
}

fn items(text: &[u8]) -> Vec<Item> {
    let mut all = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let first = line_end(text, at);
        let mut end = first;
        let kind = match text[at] {
            b'@' => Kind::Global,
            b'!' if text.get(at + 1).is_some_and(u8::is_ascii_digit) => Kind::Metadata,
            b'!' if text[at..first].starts_with(b"!llvm.dbg.cu") => Kind::Units,
            b'd' if text[at..first].starts_with(b"define") => {
                // The only line that begins with a brace ends it.
                while end < text.len() && text[end] != b'}' {
                    end = line_end(text, end);
                }
                end = line_end(text, end);
                Kind::Function
            }
            b'd' if text[at..first].starts_with(b"declare") => Kind::Function,
            _ => Kind::Other,
        };
        if text[at] != b';' && text[at] != b'\n' {
            all.push(Item { lines: at..end, kind });
        }
        at = end;
    }
    all
}

fn line_end(text: &[u8], at: usize) -> usize {
    text[at.min(text.len())..].iter().position(|b| *b == b'\n').map_or(text.len(), |n| at + n + 1)
}

fn defined<'t>(text: &'t [u8], item: &Item) -> Option<Name<'t>> {
    let line = &text[item.lines.start..line_end(text, item.lines.start)];
    match item.kind {
        Kind::Function | Kind::Global => {
            let at = line.iter().position(|b| *b == b'@')?;
            Some(Name::Symbol(symbol(&line[at + 1..]).0))
        }
        Kind::Metadata => Some(Name::Metadata(&line[1..1 + digits(&line[1..])])),
        Kind::Units | Kind::Other => None,
    }
}

/// The symbol that the text begins with, without quotes, and the length of what it takes.
fn symbol(text: &[u8]) -> (&[u8], usize) {
    if text.first() == Some(&b'"') {
        let n = text[1..].iter().position(|b| *b == b'"').unwrap_or(text.len() - 1);
        return (&text[1..1 + n], n + 2);
    }
    let part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'$' | b'.' | b'_');
    let n = text.iter().take_while(|b| part(b)).count();
    (&text[..n], n)
}

fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|b| b.is_ascii_digit()).count()
}

fn references(text: &[u8], mut see: impl FnMut(Name)) {
    let mut quoted = false;
    let mut i = 0;
    while i < text.len() {
        let rest = &text[i + 1..];
        i += 1;
        match text[i - 1] {
            b'"' => quoted = !quoted,
            b'\n' => quoted = false,
            b'@' if !quoted => {
                let (name, length) = symbol(rest);
                see(Name::Symbol(name));
                i += length;
            }
            b'!' if !quoted => {
                let n = digits(rest);
                if n > 0 {
                    see(Name::Metadata(&rest[..n]));
                }
                i += n;
            }
            _ => {}
        }
    }
}

/// The list of compilation units without those that were left out.
fn units(line: &[u8], kept: impl Fn(&Name) -> bool) -> Vec<u8> {
    let mut all = Vec::new();
    references(line, |name| {
        if let (Name::Metadata(n), true) = (name, kept(&name)) {
            all.push(format!("!{}", String::from_utf8_lossy(n)));
        }
    });
    format!("!llvm.dbg.cu = !{{{}}}\n", all.join(", ")).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "source_filename = \"x\"\n\n@used = constant ptr @g, align 8\n@unused = constant i8 0\n\n\
        ; Function Attrs: nounwind\ndefine i32 @main(i32 %0, ptr %1) !dbg !3 {\n  \
        %2 = load ptr, ptr @used\n  ret i32 0\n}\n\n\
        define internal void @g() {\n  call void @_RNvNtCs1_4core9panicking5panic()\n  ret void\n}\n\n\
        define void @_RNvCs1_1a5never() {\n  ret void\n}\n\n\
        define void @_RNvNtCs1_4core9panicking5panic() {\n  call void @_RNvCs1_1a5never()\n  ret void\n}\n\n\
        !llvm.dbg.cu = !{!1, !2}\n!1 = !{!\"a @unused !4\"}\n!2 = !{}\n!3 = !{!1}\n!4 = !{}\n";

    #[test]
    fn what_the_entry_needs_stays() {
        let text = String::from_utf8(from_entry(MODULE.as_bytes())).unwrap();
        for there in ["source_filename", "@used =", "@main(", "define internal void @g()", "!1 =", "!3 =", "!{!1}\n"] {
            assert!(text.contains(there), "{there} is not in\n{text}");
        }
        for gone in ["@unused =", "5never()", "!2 =", "!4 ="] {
            assert!(!text.contains(gone), "{gone} is in\n{text}");
        }
        assert!(text.contains("@_RNvNtCs1_4core9panicking5panic() {\n  unreachable\n}"), "{text}");
    }

    #[test]
    fn functions_before_main() {
        assert!(!runs_before_main(MODULE.as_bytes()));
        let array = "@x = constant ptr @g, section \".init_array\", align 8\n";
        assert!(runs_before_main(array.as_bytes()));
        let standard = array.replace("@x", "@_RNvNtCs1_3std3sys4args4unix3imp15ARGV_INIT_ARRAY");
        assert!(!runs_before_main(standard.as_bytes()));
    }
}
