//! Offsets that depend on one byte of which few values are left.
//!
//! *Idea*: a name that the program looks up has a symbolic letter, for which the path leaves two values. The hash of
//! the name is a large term and may refer to any bucket by its shape, but has two values. Such an offset is read as the
//! choice between them, so that what is read is a choice between two words, and the targets of a pointer read from
//! there are read off it. *Invariant*: on this path, under every assignment that the path allows, the choice has the
//! value of the offset. *Direction*: loses nothing. Off where a history is kept, which has to say the offset for
//! every value. *Checked by*: the random programs and the campaign, which compare with runs that record.

use crate::machine::Machine;
use pleach_expr::{Key, Model, SymbolKind, TermId, Terms, facts};
use pleach_memory::constant_offsets::Offsets;
use pleach_state::State;
use rustc_hash::FxHashMap;

/// More values than this are not enumerated.
const MAX_VALUES: usize = 8;
/// Constraints of more operators than this are not looked at.
const OPERATORS: usize = 500;

/// The values of a byte.
type Values = [u64; 4];

#[derive(Default)]
pub struct SmallValueSets {
    /// the values that make a constraint on one byte true; `None`: it is no such constraint, or too large
    truth: FxHashMap<TermId, Option<Values>>,
    /// offsets by the values that are left
    choices: FxHashMap<(TermId, Values), Option<TermId>>,
}

impl Machine {
    /// An offset without bases as a choice between its values on this path, if they are few.
    pub(crate) fn small_value_set(&mut self, st: &State, off: TermId) -> Option<TermId> {
        if st.history.is_kept() || !self.config.narrow_offsets {
            return None;
        }
        let &[key] = &*self.terms.support(off) else { return None };
        let unknown = byte(&mut self.terms, key)?;
        let mut left = [u64::MAX; 4];
        for &c in st.path.relevant(&mut self.terms, off).constraints.iter() {
            if let Some(set) = self.few.truth(&mut self.terms, c, key) {
                left.iter_mut().zip(set).for_each(|(l, s)| *l &= s);
            }
        }
        let count: u32 = left.iter().map(|l| l.count_ones()).sum();
        // SOUND: a constraint that was passed over only leaves more values.
        if count == 0 || count as usize > MAX_VALUES || Offsets::of(&self.terms, off).is_some() {
            return None;
        }
        if let Some(&known) = self.few.choices.get(&(off, left)) {
            return known;
        }
        let choice = choice(&mut self.terms, off, key, unknown, left);
        self.few.choices.insert((off, left), choice);
        choice
    }
}

impl SmallValueSets {
    fn truth(&mut self, terms: &mut Terms, c: TermId, key: Key) -> Option<Values> {
        if terms.support(c)[..] != [key] {
            return None;
        }
        *self.truth.entry(c).or_insert_with(|| {
            if terms.has(c, facts::HAS_FORALL) || terms.reachable(&[c]).len() > OPERATORS {
                return None;
            }
            let mut set = [0; 4];
            let mut model = Model::new();
            for v in 0..256 {
                model.set(key, v);
                set[v as usize / 64] |= terms.try_eval(c, &model)? << (v % 64);
            }
            Some(set)
        })
    }
}

/// The term of a symbolic variable of 8 bits.
fn byte(terms: &mut Terms, key: Key) -> Option<TermId> {
    match terms.symbols.kind(key.symbol()) {
        SymbolKind::Bits(8) => Some(terms.var(key.symbol())),
        SymbolKind::Array { element: 8, len, .. } if key.cell() < len => {
            let array = terms.array_var(key.symbol());
            let cell = terms.constant(pleach_expr::INDEX_BITS, u64::from(key.cell()));
            Some(terms.read(array, cell))
        }
        _ => None,
    }
}

fn choice(terms: &mut Terms, off: TermId, key: Key, unknown: TermId, left: Values) -> Option<TermId> {
    let mut model = Model::new();
    let mut by_offset: Vec<(u64, TermId)> = Vec::new();
    for v in (0..256u64).filter(|v| left[*v as usize / 64] >> (v % 64) & 1 == 1) {
        model.set(key, v);
        let at = terms.try_eval(off, &model)?;
        let k = terms.constant(8, v);
        let here = terms.eq(unknown, k);
        match by_offset.iter_mut().find(|(o, _)| *o == at) {
            Some((_, when)) => *when = terms.or(*when, here),
            None => by_offset.push((at, here)),
        }
    }
    let width = terms.width(off);
    let (last, _) = by_offset.pop()?;
    let mut choice = terms.constant(width, last);
    for (at, when) in by_offset.into_iter().rev() {
        let k = terms.constant(width, at);
        choice = terms.ite(when, k, choice);
    }
    Some(choice)
}
