//! Symbols: the symbolic variables of a run. A symbol is identified by where it comes from and a number, never by its
//! name, which is for show: two inputs that a program gives one name, or a name that looks like one of the engine's,
//! stay two symbols. Sibling paths which create "the third input called x" get one symbol and share cached answers.

use rustc_hash::FxHashMap;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SymbolId(pub u32);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SymbolKind {
    /// one bit-vector of this many bits
    Bits(u16),
    /// `len` elements of `element` bits
    Array { element: u16, len: u32 },
}

impl SymbolKind {
    /// The length of a total array: it has a cell for every index but the last one, [`crate::Key::WHOLE`], which is no
    /// cell's number.
    pub const TOTAL: u32 = u32::MAX;

    /// An array without an end, from indices to elements of this many bits.
    pub fn total(element: u16) -> SymbolKind {
        SymbolKind::Array { element, len: SymbolKind::TOTAL }
    }
}

/// Where a symbol comes from, with what tells it from the others of that origin.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SymbolOrigin {
    /// what the program requested or its harness gives: the name (see [`Symbols::name`]), and how many inputs of the
    /// path had it before
    Input { name: NameId, nth: u32 },
    /// how many elements an input has: the name and number of that input
    InputSize { name: NameId, nth: u32 },
    /// a register that nothing wrote, by its number on the path
    Undefined(u32),
    /// memory that nothing wrote: the object, and where in it the unwritten part begins
    Uninitialised { object: u32, start: u64 },
    /// what a function without a body gives or leaves in memory, by its number on the path
    External(u32),
    /// what the operating system could be other than its model, by its number on the path
    Environment(u32),
    /// another value that a symbol nothing wrote could have: the symbol
    Twin(SymbolId),
    /// a register of a condition on states
    Register { depth: u32, slot: u32 },
    /// the size of an object of a condition on states
    ObjectSize { object: u32 },
    /// a memory cell of a condition on states
    Cell { object: u32, offset: u64, bytes: u32 },
    /// any value at all, in a condition on states
    Any(u32),
    /// a variable that a quantifier binds, by its number: those of inner quantifiers have smaller ones
    Bound(u32),
    /// how many rounds of a loop a merged state stands for, by the number of the merge
    Rounds(u32),
    /// what a link of a solver chain adds to a query, by its number there
    Link(u32),
    /// a part of the state that an audit makes symbolic
    Audit(NameId),
    /// by its name alone: terms read from text, and tests
    Text(NameId),
}

impl SymbolOrigin {
    /// Nothing wrote it: neither an input nor a result.
    pub fn is_unwritten(self) -> bool {
        matches!(self, SymbolOrigin::Undefined(_) | SymbolOrigin::Uninitialised { .. })
    }
}

/// A name in the table of symbols.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NameId(u32);

#[derive(Clone, Debug)]
pub struct SymbolInfo {
    /// for show
    pub name: String,
    pub kind: SymbolKind,
    pub origin: SymbolOrigin,
}

#[derive(Default)]
pub struct Symbols {
    all: Vec<SymbolInfo>,
    index: FxHashMap<(SymbolOrigin, SymbolKind), SymbolId>,
    names: FxHashMap<String, NameId>,
}

impl Symbols {
    /// The symbol of this origin and kind; `name` is how to show it if it is new.
    pub fn intern(&mut self, origin: SymbolOrigin, kind: SymbolKind, name: impl FnOnce() -> String) -> SymbolId {
        let next = SymbolId(self.all.len() as u32);
        let id = *self.index.entry((origin, kind)).or_insert(next);
        if id == next {
            self.all.push(SymbolInfo { name: name(), kind, origin });
        }
        id
    }

    /// A symbol that its name identifies.
    pub fn named(&mut self, name: &str, kind: SymbolKind) -> SymbolId {
        let origin = SymbolOrigin::Text(self.name(name));
        self.intern(origin, kind, || name.to_owned())
    }

    /// The name's number in this table.
    pub fn name(&mut self, name: &str) -> NameId {
        if let Some(&id) = self.names.get(name) {
            return id;
        }
        let id = NameId(self.names.len() as u32);
        self.names.insert(name.to_owned(), id);
        id
    }

    pub fn info(&self, id: SymbolId) -> &SymbolInfo {
        &self.all[id.0 as usize]
    }
    pub fn kind(&self, id: SymbolId) -> SymbolKind {
        self.info(id).kind
    }
    pub fn origin(&self, id: SymbolId) -> SymbolOrigin {
        self.info(id).origin
    }
    pub fn len(&self) -> usize {
        self.all.len()
    }
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_identifies_nothing() {
        let mut s = Symbols::default();
        let (a, b) = (s.name("a"), s.name("a_1"));
        let kind = SymbolKind::Bits(32);
        let second_a = s.intern(SymbolOrigin::Input { name: a, nth: 1 }, kind, || "a_1".into());
        let first_b = s.intern(SymbolOrigin::Input { name: b, nth: 0 }, kind, || "a_1".into());
        let undefined = s.intern(SymbolOrigin::Undefined(0), kind, || "a_1".into());
        assert!(second_a != first_b && first_b != undefined);
        assert_eq!(s.intern(SymbolOrigin::Input { name: a, nth: 1 }, kind, || "x".into()), second_a);
        assert_ne!(s.intern(SymbolOrigin::Input { name: a, nth: 1 }, SymbolKind::Bits(8), || "x".into()), second_a);
        assert!(s.origin(undefined).is_unwritten() && !s.origin(first_b).is_unwritten());
    }
}
