//! Locations: what a condition on a state may talk about. Each is a variable term, so that conditions are ordinary
//! terms and the weakest precondition of an instruction is a substitution.

use pleach_expr::{SymbolId, SymbolKind, SymbolOrigin, TermId, Terms};
use pleach_ir::Function;
use pleach_ir::bitset::BitSet;
use pleach_ir::loops::bodies_by_header;
use pleach_memory::ObjId;
use rustc_hash::FxHashMap;
use std::rc::Rc;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Loc {
    /// a register of the frame at this call depth; its variable arguments follow its registers
    /// ([`pleach_state::Frame::register`])
    Reg { depth: u32, slot: u32 },
    /// how many bytes an object has
    Size { obj: ObjId },
    /// bytes of an object; the object is a variable of the condition, named by the id it had on the recorded path
    Cell { obj: ObjId, off: u64, bytes: u32 },
}

#[derive(Default)]
pub struct Locs {
    /// by global: its contents never change, so they are no locations
    unwritten: Vec<bool>,
    loc_of: FxHashMap<SymbolId, Loc>,
    term_of: FxHashMap<(Loc, u16), TermId>,
    fresh_variables: u32,
    /// some location is a size
    pub has_sizes: bool,
    /// by function and block: the body of the loop that begins there
    loops: FxHashMap<u32, LoopBodies>,
}

type LoopBodies = Rc<[Option<BitSet>]>;

impl Locs {
    pub fn new(program: &pleach_ir::Program) -> Locs {
        Locs { unwritten: pleach_ir::never_written_globals::unwritten(program), ..Locs::default() }
    }

    /// The object is a global whose contents never change.
    pub fn is_constant(&self, obj: ObjId) -> bool {
        self.unwritten.get(obj.0 as usize).is_some_and(|u| *u)
    }

    pub fn term(&mut self, terms: &mut Terms, loc: Loc, width: u16) -> TermId {
        if let Some(&t) = self.term_of.get(&(loc, width)) {
            return t;
        }
        let origin = match loc {
            Loc::Reg { depth, slot } => SymbolOrigin::Register { depth, slot },
            Loc::Size { obj } => SymbolOrigin::ObjectSize { object: obj.0 },
            Loc::Cell { obj, off, bytes } => SymbolOrigin::Cell { object: obj.0, offset: off, bytes },
        };
        let name = || match loc {
            Loc::Reg { depth, slot } => format!("loc!r{depth}.{slot}"),
            Loc::Size { obj } => format!("loc!size{}", obj.0),
            Loc::Cell { obj, off, bytes } => format!("loc!m{}.{off}.{bytes}", obj.0),
        };
        let s = terms.symbols.intern(origin, SymbolKind::Bits(width), name);
        let t = terms.var(s);
        self.has_sizes |= matches!(loc, Loc::Size { .. });
        self.loc_of.insert(s, loc);
        self.term_of.insert((loc, width), t);
        t
    }

    /// By block of the function: the body of the loop that begins there.
    pub(crate) fn loop_bodies(&mut self, func: u32, f: &Function) -> LoopBodies {
        self.loops.entry(func).or_insert_with(|| bodies_by_header(f).into()).clone()
    }

    pub fn get(&self, s: SymbolId) -> Option<Loc> {
        self.loc_of.get(&s).copied()
    }

    /// A variable that stands for nothing in the state: any value.
    pub fn fresh_variable(&mut self, terms: &mut Terms, width: u16) -> TermId {
        let s = self.fresh_symbol(terms, SymbolKind::Bits(width));
        terms.var(s)
    }

    /// The same, a number or an array.
    pub fn fresh_symbol(&mut self, terms: &mut Terms, kind: SymbolKind) -> SymbolId {
        let number = self.fresh_variables;
        self.fresh_variables += 1;
        terms.symbols.intern(SymbolOrigin::Any(number), kind, || format!("any!{number}"))
    }
}
