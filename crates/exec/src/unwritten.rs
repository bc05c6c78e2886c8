//! `--check uninit`: decisions, addresses and output that depend on values nothing wrote.
//!
//! *Idea*: what nothing wrote is a symbol of its own origin, so that a term says by itself whether it depends on it;
//! copying such values is fine, and so is what simplifies to the same whatever they are. The path that ends in the
//! error is a sibling of one that goes on with any value; each place of the program is reported once. *Direction*: a
//! term may mention a value that makes no difference, but a branch whose way is the same for all values is none. What
//! is written to files as bytes is not looked at.

use crate::machine::Machine;
use crate::{feasibility::Feasibility, flow::StepResult};
use pleach_expr::{SymbolOrigin, TermId};
use pleach_memory::{ObjId, ObjectEntry, Value};
use pleach_state::{End, ErrorKind, ProgramError, State};

impl Machine {
    /// Reports a value that decides something and was never written.
    pub(crate) fn mind_unwritten(&mut self, st: &mut State, v: Value, what: &str) -> StepResult<()> {
        if !self.config.check_uninit {
            return Ok(());
        }
        match v {
            Value::Term(t) => self.mind_unwritten_term(st, t, what),
            Value::Undef => self.report_unwritten(st, what, "a variable"),
            Value::Int(_) | Value::Ptr { .. } => Ok(()),
        }
    }

    /// The same for the condition of a branch that can go both ways.
    pub(crate) fn mind_unwritten_branch(&mut self, st: &mut State, c: TermId) -> StepResult<()> {
        if !self.config.check_uninit || self.unwritten_in(st, c).is_none() {
            return Ok(());
        }
        match self.decide(st, c) {
            Feasibility::True | Feasibility::False => Ok(()),
            _ => self.mind_unwritten_term(st, c, "a branch"),
        }
    }

    fn mind_unwritten_term(&mut self, st: &mut State, t: TermId, what: &str) -> StepResult<()> {
        match self.unwritten_in(st, t) {
            Some(origin) => {
                let of = self.describe_origin(st, origin);
                self.report_unwritten(st, what, &of)
            }
            None => Ok(()),
        }
    }

    fn unwritten_in(&mut self, st: &mut State, t: TermId) -> Option<SymbolOrigin> {
        let address_free = self.substitute_addresses(st, t);
        let support = self.terms.support(address_free);
        support.iter().map(|k| self.terms.symbols.origin(k.symbol())).find(|o| o.is_unwritten())
    }

    fn describe_origin(&self, st: &State, origin: SymbolOrigin) -> String {
        match origin {
            SymbolOrigin::Uninitialised { object, .. } => {
                let obj = ObjId(object);
                match st.memory.entry(obj) {
                    Some(ObjectEntry::Live(o) | ObjectEntry::InSegment(o, ..) | ObjectEntry::Freed(o)) => {
                        self.describe(st, obj, o.size)
                    }
                    _ => "a local variable".into(),
                }
            }
            _ => "a variable".into(),
        }
    }

    fn report_unwritten(&mut self, st: &mut State, what: &str, of: &str) -> StepResult<()> {
        let message = format!("{what} depends on the value of {of}, which was never written");
        self.end_beside(st, End::Error(ProgramError::new(ErrorKind::Uninit, message)))
    }
}
