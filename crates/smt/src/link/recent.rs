//! The models of the last satisfiable queries: where a link that proposes models starts from.
//!
//! *Invariant*: what a link proposes becomes an answer only after every constraint evaluated to true under it.

use crate::answer::Answer;
use crate::evidence;
use crate::query::{Query, Solver};
use pleach_expr::{Key, Model, SymbolKind, Terms};
use std::collections::VecDeque;
use std::rc::Rc;

const MAX_RECENT: usize = 16;

#[derive(Default)]
pub struct RecentModels {
    models: VecDeque<Rc<Model>>,
}

impl RecentModels {
    /// Up to `most` models that say something about `keys`, the newest first; last, all zeros.
    pub fn starts(&self, keys: &[Key], most: usize) -> Vec<Rc<Model>> {
        let shares = |m: &&Rc<Model>| keys.iter().any(|&k| m.contains(k));
        self.models.iter().filter(shares).take(most).cloned().chain([Rc::default()]).collect()
    }

    /// The proposed model if it is one (`accepted` counts it), and else what `next` says.
    pub fn answer(
        &mut self,
        terms: &mut Terms,
        query: &Query,
        proposed: Option<Model>,
        accepted: &mut u64,
        next: &mut impl Solver,
    ) -> Answer {
        let answer = match proposed {
            // SOUND: queried in full, whatever the link found out about it.
            Some(model) if evidence::satisfies(terms, query.constraints, &model) => {
                *accepted += 1;
                Answer::Sat(Rc::new(model))
            }
            _ => next.check(terms, query),
        };
        if let Answer::Sat(model) = &answer {
            self.models.push_front(model.clone());
            self.models.truncate(MAX_RECENT);
        }
        answer
    }
}

/// The bits of a symbolic variable for which values can be proposed: a variable of at most 64 bits, or a cell.
pub fn width(terms: &Terms, key: Key) -> Option<u16> {
    match terms.symbols.kind(key.symbol()) {
        SymbolKind::Bits(w) => (w <= 64).then_some(w),
        SymbolKind::Array { len, element } => (key.cell() < len).then_some(element),
    }
}
