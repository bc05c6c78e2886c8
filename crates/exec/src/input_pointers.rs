//! Pointers that the inputs of an entry function hold: `a->p` of a parameter `a`.
//!
//! *Idea*: whoever calls the function gives it null, the start of an object, or nothing valid. To an engine such a
//! pointer is a number, which may also be an address in the middle of an object, where it would overlap that object in
//! part. *Direction*: such values are cut, never followed: what needs one is not claimed, and nothing is safe by it.
//! Pointers that the program computes from one (a member, an element) are judged by where that one points.

use crate::machine::Machine;
use pleach_expr::{Op, TermId};
use pleach_state::{Origin, State};

/// Why a path with such a value is cut.
pub(crate) const MIDDLE: &str =
    "a pointer in the memory of a parameter, which may also point into the middle of an object";

/// What of an address comes from the inputs.
pub(crate) enum InputPointer {
    /// nothing
    No,
    /// the address is computed from this pointer
    From(TermId),
    /// in a way that shows no pointer
    Mixed,
}

impl Machine {
    /// The pointer of an entry function's input that an address is computed from.
    pub(crate) fn input_pointer(&mut self, st: &State, t: TermId) -> InputPointer {
        let symbols: Vec<_> = self.terms.support(t).iter().map(|k| k.symbol()).collect();
        let inputs = st.inputs.in_order();
        let given = |s| inputs.iter().any(|i| i.symbol == s && i.origin == Origin::Parameter);
        if !symbols.into_iter().any(given) {
            return InputPointer::No;
        }
        let Some((parts, _)) = self.terms.linear(t) else { return InputPointer::Mixed };
        let mut found = None;
        for (atom, k) in parts {
            let of_input = self.terms.support(atom).iter().any(|k| given(k.symbol()));
            let loaded = matches!(self.terms.op(atom), Op::Concat | Op::Read | Op::Var);
            match (of_input, k == 1 && loaded, found) {
                (false, ..) => {}
                (true, true, None) => found = Some(atom),
                // An index times the size of an element.
                (true, false, _) if k != 1 => {}
                _ => return InputPointer::Mixed,
            }
        }
        found.map_or(InputPointer::Mixed, InputPointer::From)
    }
}
