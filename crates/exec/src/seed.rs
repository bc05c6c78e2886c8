//! Inputs that an exploration follows first.

use crate::machine::Machine;
use pleach_expr::{Key, Model, SymbolKind};
use pleach_state::{Input, Origin, State};

/// An input of another tool, or a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seed {
    /// The bytes as a fuzzer gives them: the data of the entry of fuzzers, standard input or the first file if they are
    /// symbolic, else all inputs one after the other.
    Bytes(Vec<u8>),
    /// The inputs by their names, in the order in which the program requests them.
    Objects(Vec<(String, Vec<u8>)>),
}

impl Seed {
    /// Whether the path goes on with this input. Inputs that the seed does not give are zero.
    pub fn satisfies(&self, machine: &Machine, state: &State, known: usize) -> bool {
        let Some(model) = self.model(machine, state) else { return false };
        let new = state.path.len().saturating_sub(known);
        let address = |base| state.memory.address(base);
        state.path.iter().take(new).all(|c| machine.terms.eval_with_bases(c, &model, &address) == Some(1))
    }

    /// The values that the seed gives the inputs of the path; none if it does not fit.
    fn model(&self, machine: &Machine, state: &State) -> Option<Model> {
        let mut model = Model::new();
        let inputs = state.inputs.in_order();
        match self {
            Seed::Objects(objects) => {
                for (input, (_, bytes)) in inputs.iter().zip(objects) {
                    put(machine, &mut model, input, bytes);
                }
            }
            Seed::Bytes(bytes) => {
                let main = |i: &&std::rc::Rc<Input>| {
                    i.origin == Origin::FuzzData && i.name == "data" || i.name == "stdin" || i.name == "A_data"
                };
                if let Some(input) = inputs.iter().find(main) {
                    if input.origin == Origin::FuzzData && input.length.is_none() && input.size as usize != bytes.len()
                    {
                        return None;
                    }
                    put(machine, &mut model, input, bytes);
                    if let Some(size) = inputs.iter().find(|i| i.origin == Origin::FuzzData && i.name == "size") {
                        put(machine, &mut model, size, &(bytes.len() as u64).to_le_bytes());
                    }
                } else if inputs.iter().any(|i| i.origin == Origin::FuzzData) {
                    return bytes.is_empty().then_some(model);
                } else {
                    let mut left = &bytes[..];
                    for input in &inputs {
                        let (own, rest) = left.split_at((input.size as usize).min(left.len()));
                        put(machine, &mut model, input, own);
                        left = rest;
                    }
                }
            }
        }
        Some(model)
    }
}

fn put(machine: &Machine, model: &mut Model, input: &Input, bytes: &[u8]) {
    let (step, cells) = match machine.terms.symbols.kind(input.symbol) {
        SymbolKind::Bits(w) => (8, u32::from(w).div_ceil(64)),
        SymbolKind::Array { element, len } => (usize::from(element) / 8, len),
    };
    for cell in 0..cells {
        let at = (cell as usize * step).min(bytes.len());
        let own = &bytes[at..(at + step).min(bytes.len())];
        let mut value = [0; 8];
        value[..own.len()].copy_from_slice(own);
        model.set(Key::new(input.symbol, cell), u64::from_le_bytes(value));
    }
}
