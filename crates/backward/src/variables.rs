//! The variables of a graph, and the terms of their versions.

use crate::graph::FrameId;
use crate::pointers::GroupId;
use pleach_expr::{INDEX_BITS, SymbolId, SymbolKind, TermId, Terms};
use pleach_ir::Slot;
use rustc_hash::FxHashMap;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Var {
    /// a number in a slot
    Slot(FrameId, Slot),
    /// the reference of a pointer in a slot
    Ref(FrameId, Slot),
    /// and its offset
    Off(FrameId, Slot),
    /// an array of memory
    Array(usize),
    /// the size of what is allocated here
    Size(GroupId),
    /// which references are freed
    Freed,
    /// the bytes that the program asks for
    Stream,
    /// and how many of them were taken
    Taken,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct VarId(pub u32);

#[derive(Default)]
pub struct Variables {
    ids: FxHashMap<Var, VarId>,
    all: Vec<(Var, SymbolKind)>,
    versions: FxHashMap<(VarId, u32), TermId>,
    /// version 0
    symbols: FxHashMap<SymbolId, VarId>,
    inputs: FxHashMap<VarId, TermId>,
}

impl Variables {
    pub fn id(&mut self, var: Var, kind: SymbolKind) -> VarId {
        let next = VarId(self.all.len() as u32);
        let id = *self.ids.entry(var).or_insert(next);
        if id == next {
            self.all.push((var, kind));
        }
        id
    }

    pub fn is_array(&self, id: VarId) -> bool {
        matches!(self.all[id.0 as usize].1, SymbolKind::Array { .. })
    }

    /// The term of a version; version 0 is what conditions without versions use.
    pub fn term(&mut self, terms: &mut Terms, id: VarId, version: u32) -> TermId {
        if let Some(&known) = self.versions.get(&(id, version)) {
            return known;
        }
        let kind = self.all[id.0 as usize].1;
        let t = symbol(terms, &format!("{}#{version}", self.name(id)), kind);
        self.versions.insert((id, version), t);
        if version == 0 {
            self.symbols.insert(SymbolId(terms.node(t).a), id);
        }
        t
    }

    /// The value at the beginning of the entry.
    pub fn input(&mut self, terms: &mut Terms, id: VarId) -> TermId {
        if let Some(&known) = self.inputs.get(&id) {
            return known;
        }
        let t = match self.all[id.0 as usize] {
            (Var::Taken, _) => terms.constant(INDEX_BITS, 0),
            (_, kind) => symbol(terms, &format!("{}#input", self.name(id)), kind),
        };
        self.inputs.insert(id, t);
        t
    }

    fn name(&self, id: VarId) -> String {
        match self.all[id.0 as usize].0 {
            Var::Slot(f, s) => format!("f{}.{}", f.0, s.0),
            Var::Ref(f, s) => format!("f{}.{}.ref", f.0, s.0),
            Var::Off(f, s) => format!("f{}.{}.offset", f.0, s.0),
            Var::Array(a) => format!("memory{a}"),
            Var::Size(g) => format!("size{}", g.0),
            Var::Freed => "freed".into(),
            Var::Stream => "stream".into(),
            Var::Taken => "taken".into(),
        }
    }

    /// The variable whose version 0 the symbol is.
    pub fn by_symbol(&self, s: SymbolId) -> Option<VarId> {
        self.symbols.get(&s).copied()
    }
}

pub fn symbol(terms: &mut Terms, name: &str, kind: SymbolKind) -> TermId {
    let s = terms.symbols.named(name, kind);
    match kind {
        SymbolKind::Bits(_) => terms.var(s),
        SymbolKind::Array { .. } => terms.array_var(s),
    }
}
