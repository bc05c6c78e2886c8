//! What is kept about a node for its explanation, with locations by the names the source gives them.

use crate::c_expression::{CPrinter, CVariable};
use crate::condition_printer::ConditionPrinter;
use pleach_expr::{TermId, Terms};
use pleach_ir::types::{DebugType, Encoding};
use pleach_ir::{FuncId, Program, Span, TypeId};
use pleach_memory::ObjId;
use pleach_state::{NodeId, SizeBound, State};
use pleach_wp::{Condition, Loc, Locs, WpResult};
use rustc_hash::FxHashMap;

/// A closed node.
#[derive(Clone, Debug)]
pub struct Explained {
    pub span: Span,
    /// functions on the stack, outermost first
    pub stack: Vec<FuncId>,
    /// the interpolant, or why there is none
    pub condition: WpResult<Condition>,
    /// whose interpolant subsumes it
    pub by: Option<NodeId>,
}

/// A closed node as text.
pub struct Explanation {
    pub node: NodeId,
    pub span: Span,
    /// functions on the stack, outermost first
    pub stack: Vec<String>,
    pub by: Option<NodeId>,
    /// why there is no interpolant
    pub no_interpolant: Option<&'static str>,
    pub conjuncts: Vec<String>,
}

impl Explained {
    pub fn new(program: &Program, state: &State, condition: WpResult<Condition>, by: Option<NodeId>) -> Explained {
        let lines = state.stack(program);
        Explained {
            span: lines.first().map(|l| l.span).unwrap_or_default(),
            stack: lines.iter().rev().map(|l| l.func).collect(),
            condition,
            by,
        }
    }

    pub(crate) fn explanation(&self, node: NodeId, terms: &mut Terms, program: &Program, locs: &Locs) -> Explanation {
        Explanation {
            node,
            span: self.span,
            stack: self.stack.iter().map(|f| program.function(*f).name.clone()).collect(),
            by: self.by,
            no_interpolant: self.condition.as_ref().err().map(|why| why.describe()),
            conjuncts: self.describe(terms, program, locs),
        }
    }

    /// One line per conjunct; none where there is no interpolant.
    fn describe(&self, terms: &mut Terms, program: &Program, locs: &Locs) -> Vec<String> {
        let Ok(c) = &self.condition else { return Vec::new() };
        let mut c = c.clone();
        c.write_sums(terms, |_| true);
        let names = self.names(terms, program, locs, &c);
        let printer = ConditionPrinter { terms, names: &names };
        let show = |t: TermId| printer.value(t, 24);
        let mut out = printer.lines(&c.literals);
        for p in &c.points_to {
            let at = p.off.map_or(" anywhere".to_owned(), |o| format!(" + {o}"));
            let size = match p.size {
                None => String::new(),
                Some(SizeBound::Exactly(n)) => format!(" (of exactly {n} bytes)"),
                Some(SizeBound::AtMost(n)) => format!(" (of at most {n} bytes)"),
            };
            out.push(format!("{} points to {}{at}{size}", show(p.ptr), object(program, p.obj)));
        }
        if let Some(blocks) = &c.blocks {
            let names: Vec<String> = blocks.iter().map(|b| object(program, *b)).collect();
            out.push(match names.is_empty() {
                true => "no heap block is live".into(),
                false => format!("no heap block is live but {}", names.join(", ")),
            });
        }
        for v in &c.dereferenceable {
            let what = if v.write { "writable" } else { "readable" };
            out.push(match v.bounded {
                true => format!("{} points to {} {what} bytes", show(v.ptr), v.bytes),
                false => format!("{} points into a live {what} object", show(v.ptr)),
            });
        }
        for d in &c.dangling {
            let what = if d.freed { "a freed block" } else { "a local that is gone" };
            out.push(format!("{} points into {what}", show(d.ptr)));
        }
        for r in &c.rounds {
            let f = self.stack.get(r.depth as usize).map(|f| program.function(*f));
            let first = f.map_or(0, |f| f.blocks[r.header.index()].first.index());
            let line = f.and_then(|f| f.spans.iter().skip(first).find(|s| s.line != 0)).map_or(0, |s| s.line);
            out.push(format!("the loop at line {line} went round {} times or more", r.at_least));
        }
        for together in &c.satisfiable {
            out.push(format!("some input allows {}", printer.lines(together).join(" and ")));
        }
        for c in &c.choices {
            let objects: Vec<String> = c.objects.iter().map(|&o| object(program, o)).collect();
            out.push(format!("{} points into one of {}", show(c.ptr), objects.join(", ")));
        }
        out
    }

    /// What of the condition can be said in C, over globals and variables of the innermost function.
    pub(crate) fn in_c(&self, terms: &mut Terms, program: &Program, locs: &Locs) -> Vec<String> {
        let Ok(c) = &self.condition else { return Vec::new() };
        let mut c = c.clone();
        c.write_sums(terms, |_| true);
        let mut variables = FxHashMap::default();
        for s in c.support(terms) {
            let var = terms.var(s);
            if let Some(v) = locs.get(s).and_then(|loc| self.c_variable(program, loc, terms.width(var))) {
                variables.insert(var, v);
            }
        }
        CPrinter { terms, variables: &variables }.conjuncts(&c.literals)
    }

    /// An integer variable of the source of exactly this width.
    fn c_variable(&self, program: &Program, loc: Loc, width: u16) -> Option<CVariable> {
        let (name, ty) = match loc {
            Loc::Reg { depth, slot } if depth as usize + 1 == self.stack.len() => {
                let slot = program.function(*self.stack.last()?).slots.get(slot as usize)?;
                (slot.name.clone()?, slot.debug_type?)
            }
            Loc::Cell { obj, off: 0, bytes } => {
                let g = program.globals.get(obj.0 as usize).filter(|g| g.size == u64::from(bytes))?;
                (g.name.clone(), g.ty?)
            }
            _ => return None,
        };
        // Names of the compiler are no identifiers: `f.x` is a static variable of f.
        let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let identifier = begins && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let (bits, signed) = integer(program, ty)?;
        (identifier && bits == u32::from(width)).then_some(CVariable { name, signed })
    }

    fn names(&self, terms: &mut Terms, program: &Program, locs: &Locs, c: &Condition) -> FxHashMap<TermId, String> {
        let mut names: FxHashMap<TermId, String> = FxHashMap::default();
        let mut cells = Vec::new();
        for s in c.support(terms) {
            let var = terms.var(s);
            match locs.get(s) {
                Some(loc @ Loc::Reg { .. }) => {
                    names.insert(var, self.register(program, loc));
                }
                Some(Loc::Size { obj }) => {
                    names.insert(var, format!("size of {}", object(program, obj)));
                }
                Some(Loc::Cell { obj, off, bytes }) => cells.push((var, obj, off, bytes)),
                None => {
                    names.insert(var, "any".into());
                }
            }
        }
        for t in c.terms().collect::<Vec<_>>() {
            for obj in terms.bases(t) {
                let base = terms.base(obj);
                names.insert(base, object(program, obj));
            }
        }
        for (var, obj, off, bytes) in cells {
            // A cell that a named pointer points to is called after it.
            let pointer = c.points_to.iter().find_map(|p| match (p.off, names.get(&p.ptr)) {
                (Some(at), Some(name)) if p.obj == obj && at <= off => Some((name.clone(), off - at)),
                _ => None,
            });
            let name = match (pointer, program.globals.get(obj.0 as usize)) {
                (_, Some(g)) if off == 0 && u64::from(bytes) == g.size => g.name.clone(),
                (Some((p, 0)), None) => format!("*{p}"),
                (Some((p, k)), None) => format!("*({p} + {k} bytes)"),
                _ => format!("{}[{off}..{}]", object(program, obj), off + u64::from(bytes)),
            };
            names.insert(var, name);
        }
        names
    }

    fn register(&self, program: &Program, loc: Loc) -> String {
        let Loc::Reg { depth, slot } = loc else { return String::new() };
        let f = self.stack.get(depth as usize).map(|f| program.function(*f));
        let named = f.and_then(|f| f.slots.get(slot as usize)).and_then(|s| s.name.clone());
        match (named, f) {
            (Some(n), Some(_)) if depth as usize + 1 == self.stack.len() => n,
            (Some(n), Some(f)) => format!("{}::{n}", f.name),
            _ => format!("%{depth}.{slot}"),
        }
    }
}

/// Width and sign of an integer type.
fn integer(program: &Program, ty: TypeId) -> Option<(u32, bool)> {
    match program.types.get(ty.index())? {
        DebugType::Base { bits, encoding: Encoding::Signed | Encoding::SignedChar, .. } => Some((*bits, true)),
        DebugType::Base { bits, encoding: Encoding::Unsigned | Encoding::UnsignedChar, .. } => Some((*bits, false)),
        DebugType::Enum { bits, signed, .. } => Some((*bits, *signed)),
        DebugType::Named { of: Some(of), .. } => integer(program, *of),
        _ => None,
    }
}

fn object(program: &Program, obj: ObjId) -> String {
    match program.globals.get(obj.0 as usize) {
        Some(g) => g.name.clone(),
        None => format!("object{}", obj.0),
    }
}
