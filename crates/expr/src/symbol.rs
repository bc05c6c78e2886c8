//! Symbols: the unknowns of a run, by name. The same name and kind give the same symbol, so that sibling paths which
//! create "the third input" talk about one unknown and share cached answers.

use rustc_hash::FxHashMap;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SymbolId(pub u32);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SymbolKind {
    /// one bit-vector of so many bits
    Bits(u16),
    /// `len` elements of `element` bits
    Array { element: u16, len: u32 },
}

#[derive(Clone, Debug)]
pub struct SymbolInfo {
    pub name: String,
    pub kind: SymbolKind,
}

#[derive(Default)]
pub struct Symbols {
    all: Vec<SymbolInfo>,
    index: FxHashMap<(String, SymbolKind), SymbolId>,
}

impl Symbols {
    pub fn intern(&mut self, name: &str, kind: SymbolKind) -> SymbolId {
        if let Some(&id) = self.index.get(&(name.to_string(), kind)) {
            return id;
        }
        let id = SymbolId(self.all.len() as u32);
        self.all.push(SymbolInfo { name: name.to_string(), kind });
        self.index.insert((name.to_string(), kind), id);
        id
    }
    pub fn info(&self, id: SymbolId) -> &SymbolInfo {
        &self.all[id.0 as usize]
    }
    pub fn kind(&self, id: SymbolId) -> SymbolKind {
        self.info(id).kind
    }
    pub fn len(&self) -> usize {
        self.all.len()
    }
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}
