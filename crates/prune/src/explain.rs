//! Interpolants in words: locations by the names the source gives them.

use pleach_expr::{SymbolKind, TermId, Terms};
use pleach_ir::{FuncId, Program, Span};
use pleach_state::State;
use pleach_wp::{Condition, Loc, Locs};
use rustc_hash::FxHashMap;

/// An interpolant with where it holds.
#[derive(Clone, Debug)]
pub struct Explained {
    pub span: Span,
    /// functions on the stack, outermost first
    pub stack: Vec<FuncId>,
    pub condition: Condition,
}

impl Explained {
    pub fn new(program: &Program, state: &State, condition: Condition) -> Explained {
        let lines = state.stack(program);
        Explained {
            span: lines.first().map(|l| l.span).unwrap_or_default(),
            stack: lines.iter().rev().map(|l| l.func).collect(),
            condition,
        }
    }

    /// One line per literal.
    pub fn words(&self, terms: &mut Terms, program: &Program, locs: &Locs) -> Vec<String> {
        let mut names: FxHashMap<TermId, TermId> = FxHashMap::default();
        for s in self.condition.support(terms) {
            let Some(loc) = locs.get(s) else { continue };
            let var = terms.var(s);
            let width = terms.width(var);
            let name = self.name(program, loc);
            let named = terms.symbols.intern(&name, SymbolKind::Bits(width));
            let named = terms.var(named);
            names.insert(var, named);
        }
        let mut show = |t: TermId| {
            let t = terms.substitute(t, &names);
            terms.show(t)
        };
        let c = &self.condition;
        let mut out: Vec<String> = c.literals.iter().map(|&l| show(l)).collect();
        for p in &c.pins {
            let at = p.off.map_or(String::new(), |o| format!(" + {o}"));
            let size = p.size.map_or(String::new(), |s| format!(" (of exactly {s} bytes)"));
            out.push(format!("{} points to object {}{at}{size}", show(p.ptr), p.obj.0));
        }
        for v in &c.valids {
            let what = if v.write { "writable" } else { "readable" };
            out.push(match v.bounded {
                true => format!("{} points to {} {what} bytes", show(v.ptr), v.bytes),
                false => format!("{} points into a live {what} object", show(v.ptr)),
            });
        }
        out
    }

    fn name(&self, program: &Program, loc: Loc) -> String {
        match loc {
            Loc::Reg { depth, slot } => {
                let f = self.stack.get(depth as usize).map(|f| program.function(*f));
                let named = f.and_then(|f| f.slots.get(slot as usize)).and_then(|s| s.name.clone());
                match (named, f) {
                    (Some(n), Some(_)) if depth as usize + 1 == self.stack.len() => n,
                    (Some(n), Some(f)) => format!("{}::{n}", f.name),
                    _ => format!("%{depth}.{slot}"),
                }
            }
            Loc::Cell { obj, off, bytes } => match program.globals.get(obj.0 as usize) {
                Some(g) if off == 0 && u64::from(bytes) == g.size => g.name.clone(),
                Some(g) => format!("{}[{off}..{}]", g.name, off + u64::from(bytes)),
                None => format!("object{}[{off}..{}]", obj.0, off + u64::from(bytes)),
            },
        }
    }
}
