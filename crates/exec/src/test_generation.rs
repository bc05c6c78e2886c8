//! From a path to a test input: the path's model, divided into the inputs that the program requested.

use crate::machine::Machine;
use pleach_expr::{Key, SymbolKind, SymbolOrigin, TermId};
use pleach_ir::{BlockId, FuncId, InstId};
use pleach_state::{InputType, Origin, State};

/// One input with its bytes, little-endian as in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConcreteInput {
    pub name: String,
    pub bytes: Vec<u8>,
    pub ty: InputType,
    pub origin: Origin,
    /// the instruction by which the program requested it
    pub site: (FuncId, InstId),
}

fn is_external(origin: SymbolOrigin) -> bool {
    matches!(origin, SymbolOrigin::External(_))
}

impl Machine {
    /// A symbol that stands for something nobody wrote, not for an input.
    pub(crate) fn is_uninitialised(&self, s: pleach_expr::SymbolId) -> bool {
        matches!(self.terms.symbols.origin(s), origin if origin.is_unwritten() || is_external(origin))
    }

    /// The path depends on memory that nobody wrote, so that its inputs alone do not determine it.
    pub fn depends_on_uninitialised(&self, state: &State) -> bool {
        state.path.groups().any(|g| g.keys.iter().any(|k| self.is_uninitialised(k.symbol())))
    }

    /// The path accessed an object through a pointer that nobody wrote: where that points is not defined.
    pub fn follows_uninitialised(&mut self, state: &State) -> bool {
        let pointers: Vec<TermId> = state.decided.keys().copied().collect();
        let all = pointers.into_iter().map(|p| self.terms.support(p).to_vec()).collect::<Vec<_>>();
        all.iter().flatten().any(|k| self.is_uninitialised(k.symbol()))
    }

    fn depends_on(&self, state: &State, is_one: impl Fn(SymbolOrigin) -> bool) -> bool {
        state.path.groups().any(|g| g.keys.iter().any(|k| is_one(self.terms.symbols.origin(k.symbol()))))
    }

    /// The path assumed something about the system; see `models/environment.rs`.
    pub fn depends_on_system(&self, state: &State) -> bool {
        self.reads_environment() || self.depends_on(state, |origin| matches!(origin, SymbolOrigin::Environment(_)))
    }

    /// The path depends on the result of a function without a body, which is a symbolic variable.
    pub fn depends_on_external(&self, state: &State) -> bool {
        self.depends_on(state, is_external)
    }

    /// Inputs that make the program take this path, and what the program prefers where it can be had.
    pub fn test_inputs(&mut self, state: &State) -> Vec<ConcreteInput> {
        if state.preferences.is_empty() {
            return self.inputs_of(state);
        }
        let mut wished = state.clone();
        for &c in state.preferences.iter() {
            if let Ok(Some(side)) = self.is_satisfiable(&mut wished, c) {
                self.add(&mut wished, side);
            }
        }
        self.inputs_of(&wished)
    }

    /// A watched block is entered for the first time. It may be long until the step at hand ends, if it does.
    pub(crate) fn tell_of_arrival(&mut self, state: &State, block: BlockId) {
        if self.is_aside.get() {
            return;
        }
        if let Some(mut told) = self.arrived.take() {
            let inputs = self.inputs_of(state);
            told(state.frame.func, block, inputs);
            self.arrived = Some(told);
        }
    }

    /// The value of a term under the path's model.
    fn value_on(&mut self, state: &State, t: TermId) -> Option<u64> {
        let model = state.path.relevant(&mut self.terms, t).model;
        self.terms.try_eval(t, &model)
    }

    fn inputs_of(&mut self, state: &State) -> Vec<ConcreteInput> {
        state
            .inputs
            .in_order()
            .iter()
            .map(|i| {
                let mut bytes = vec![0u8; i.size as usize];
                let (step, cells) = match self.terms.symbols.kind(i.symbol) {
                    SymbolKind::Bits(w) => (8, u32::from(w).div_ceil(64)),
                    SymbolKind::Array { element, len } => (usize::from(element) / 8, len),
                };
                for c in 0..cells {
                    let v = state.path.model_value(Key::new(i.symbol, c));
                    if v != 0 {
                        let at = c as usize * step;
                        let end = (at + step).min(bytes.len());
                        bytes[at..end].copy_from_slice(&v.to_le_bytes()[..end - at]);
                    }
                }
                if let Some(n) = i.length.and_then(|t| self.value_on(state, t)) {
                    bytes.truncate(n as usize);
                }
                ConcreteInput { name: i.name.clone(), bytes, ty: i.ty.clone(), origin: i.origin, site: i.site }
            })
            .collect()
    }
}
