//! `--check uninit`: decisions, addresses and output that depend on values nothing wrote.
//!
//! *Idea*: what nothing wrote is a symbol of its own origin, so that a term says by itself whether it mentions it.
//! Whether it depends on it is a query: are there inputs and two ways to fill what nothing wrote, both of which follow
//! this path, and for which the term has two values? So an element of an array that is written in part depends on
//! nothing unwritten where the index can only be of the written part. The path that ends in the error has such inputs;
//! it is a sibling of one that goes on with any value. Each location of the program is reported once.
//! *Direction*: exact where the solver answers; where it does not, the query is counted as cut. What is written to files
//! as bytes is not checked.

use crate::feasibility::FeasibleSide;
use crate::flow::StepResult;
use crate::machine::Machine;
use pleach_expr::{Key, Model, Op, SymbolId, SymbolKind, SymbolOrigin, TermId, Terms};
use pleach_memory::{ObjId, ObjectEntry, Value};
use pleach_smt::{Answer, UnknownReason};
use pleach_state::{End, ErrorKind, IndependentSlice, ProgramError, State};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Two ways to fill what nothing wrote: everything that holds then, and an example.
struct TwoValues {
    all: Vec<TermId>,
    model: Rc<Model>,
}

impl Machine {
    /// Reports a value that decides something and was never written.
    pub(crate) fn mind_unwritten(&mut self, st: &mut State, v: Value, what: &str) -> StepResult<()> {
        if !self.config.check_uninit {
            return Ok(());
        }
        match v {
            Value::Term(t) => self.mind_unwritten_term(st, t, what),
            Value::Undef => self.report_unwritten(st, what, "a variable", None),
            Value::Int(_) | Value::Ptr { .. } => Ok(()),
        }
    }

    /// The same for the condition of a branch.
    pub(crate) fn mind_unwritten_branch(&mut self, st: &mut State, c: TermId) -> StepResult<()> {
        if self.config.check_uninit { self.mind_unwritten_term(st, c, "a branch") } else { Ok(()) }
    }

    fn mind_unwritten_term(&mut self, st: &mut State, t: TermId, what: &str) -> StepResult<()> {
        let address_free = self.substitute_addresses(st, t);
        let unwritten = self.unwritten_in(address_free);
        let Some(&first) = unwritten.first() else { return Ok(()) };
        if self.is_alternative_reported(st) {
            return Ok(());
        }
        match self.two_values(st, address_free) {
            Ok(None) => Ok(()),
            Ok(Some(found)) => {
                let differs = unwritten.iter().find(|s| self.differs(&found, **s)).unwrap_or(&first);
                let of = self.describe_origin(st, self.terms.symbols.origin(*differs));
                let side = self.inputs_only(st, address_free, &found);
                self.report_unwritten(st, what, &of, side)
            }
            Err(UnknownReason::Steps) if self.is_exhausted() => {
                // The instruction is executed again with a larger budget.
                self.defer_whole();
                Ok(())
            }
            Err(why) => self.lose_alternative(st, &why),
        }
    }

    /// The symbols of a term that nothing wrote, each once.
    fn unwritten_in(&mut self, address_free: TermId) -> Vec<SymbolId> {
        let support = self.terms.support(address_free);
        let mut found: Vec<SymbolId> = support.iter().map(|k| k.symbol()).collect();
        found.retain(|s| self.terms.symbols.origin(*s).is_unwritten());
        found.dedup();
        found
    }

    /// What nothing wrote can be two things on this path, of which the term makes two values.
    fn two_values(&mut self, st: &mut State, address_free: TermId) -> Result<Option<TwoValues>, UnknownReason> {
        let relevant = st.path.relevant(&mut self.terms, address_free);
        let constraints: Vec<TermId> = relevant.constraints.to_vec();
        let twins = self.twins([&constraints[..], &[address_free]].concat());
        let other = self.terms.substitute(address_free, &twins);
        let differ = self.terms.ne(address_free, other);
        if differ == Terms::FALSE {
            return Ok(None);
        }
        let mut all = constraints.clone();
        all.extend(constraints.iter().map(|c| self.terms.substitute(*c, &twins)));
        all.sort_unstable();
        all.dedup();
        let both = IndependentSlice { constraints: all.clone().into(), based: None, ..relevant };
        match self.query(st, &both, differ, differ) {
            Answer::Unsat(_) => Ok(None),
            Answer::Sat(model) => {
                all.push(differ);
                Ok(Some(TwoValues { all, model }))
            }
            Answer::Unknown(why) => Err(why),
        }
    }

    /// Another symbol for each one of these terms that nothing wrote.
    fn twins(&mut self, of: Vec<TermId>) -> FxHashMap<TermId, TermId> {
        let mut map: FxHashMap<TermId, TermId> = FxHashMap::default();
        for t in of {
            for s in self.unwritten_in(t) {
                let (one, twin) = (s, self.twin(s));
                let both = match self.terms.symbols.kind(s) {
                    SymbolKind::Bits(_) => (self.terms.var(one), self.terms.var(twin)),
                    SymbolKind::Array { .. } => (self.terms.array_var(one), self.terms.array_var(twin)),
                };
                map.insert(both.0, both.1);
            }
        }
        map
    }

    fn twin(&mut self, s: SymbolId) -> SymbolId {
        let (kind, name) = (self.terms.symbols.kind(s), self.terms.symbols.info(s).name.clone());
        self.terms.symbols.intern(SymbolOrigin::Twin(s), kind, || format!("{name}'"))
    }

    /// A symbol and its twin have two values where the term has.
    fn differs(&mut self, found: &TwoValues, s: SymbolId) -> bool {
        let twin = self.twin(s);
        let keys: Vec<Key> = found.all.iter().flat_map(|t| self.terms.support(*t).to_vec()).collect();
        let of_twin = keys.iter().filter(|k| k.symbol() == twin && !k.is_whole());
        let mut cells = of_twin.map(|k| (*k, Key::new(s, k.cell())));
        cells.any(|(a, b)| found.model.get(a) != found.model.get(b))
    }

    /// That there are two values, as a condition on the inputs: what nothing wrote is neither of the two. None if that
    /// is not found soon.
    fn inputs_only(&mut self, st: &mut State, address_free: TermId, found: &TwoValues) -> Option<FeasibleSide> {
        let mut others = self.twins(found.all.clone());
        for to in others.values_mut() {
            let node = self.terms.node(*to);
            let again = self.twin(SymbolId(node.a));
            *to = if node.op == Op::Var { self.terms.var(again) } else { self.terms.array_var(again) };
        }
        let mut condition = Terms::TRUE;
        for &t in &found.all {
            let t = self.terms.substitute(t, &others);
            condition = self.terms.and(t, condition);
        }
        let relevant = st.path.relevant(&mut self.terms, address_free);
        match self.without_budget(|m| m.query(st, &relevant, condition, condition)) {
            Answer::Sat(model) => Some(FeasibleSide { condition, address_free: condition, relevant, model }),
            Answer::Unsat(_) | Answer::Unknown(_) => None,
        }
    }

    fn describe_origin(&self, st: &State, origin: SymbolOrigin) -> String {
        match origin {
            SymbolOrigin::Uninitialised { object, .. } => {
                let obj = ObjId(object);
                match st.memory.entry(obj) {
                    Some(ObjectEntry::Live(_) | ObjectEntry::InSegment(..) | ObjectEntry::Freed(_)) => {
                        self.describe(st, obj)
                    }
                    _ => "a local variable".into(),
                }
            }
            _ => "a variable".into(),
        }
    }

    fn report_unwritten(&mut self, st: &mut State, what: &str, of: &str, side: Option<FeasibleSide>) -> StepResult<()> {
        let message = format!("{what} depends on the value of {of}, which was never written");
        self.end_alternative(st, End::Error(ProgramError::new(ErrorKind::Uninit, message)), side)
    }
}
