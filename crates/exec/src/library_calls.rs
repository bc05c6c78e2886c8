//! Calls out of the program into the C library, as KLEE tells of them: it would make them natively. Here their code is
//! linked and runs like the rest; that it is not the program's is worth a word, or forbidden.

use crate::flow::{Flow, StepResult};
use crate::machine::{Code, Machine};
use pleach_ir::{FuncId, Range, Ty};
use pleach_memory::Value;
use pleach_state::{Detail, ErrorKind, State};

/// When a call into the library is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExternalCallWarning {
    Never,
    /// once per function
    Once,
    Always,
}

/// Warnings about calls into the library.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExternalCallPolicy {
    pub warnings: ExternalCallWarning,
    /// they are errors, but for those that only print
    pub forbidden: bool,
}

/// KLEE brings these itself.
const FREESTANDING: [&str; 7] = ["bcmp", "memchr", "memcmp", "memcpy", "memmove", "mempcpy", "memset"];

const HARMLESS: [&str; 4] = ["printf", "fprintf", "puts", "getpid"];

/// They print, and nothing of the program depends on which number it was but their result.
const PRINTING: [&str; 3] = ["printf", "fprintf", "dprintf"];

impl Machine {
    /// Whether the program calls a function that prints, as KLEE would call it: with concrete numbers.
    pub(crate) fn prints_for_klee(&self, code: &Code, st: &State, callee: FuncId) -> bool {
        self.config.externals.is_some()
            && !st.history.is_kept()
            && code.library.contains(&callee)
            && !code.library.contains(&st.frame.func)
            && PRINTING.contains(&code.program.function(callee).name.as_str())
    }

    /// A symbolic number as the path's test has it; nothing is fixed by that.
    pub(crate) fn shown_number(&mut self, st: &mut State, v: Value, ty: Ty) -> Value {
        match v {
            Value::Term(_) if ty != Ty::Ptr && self.width_of(ty) <= 64 => self.example(st, v).map_or(v, Value::Int),
            _ => v,
        }
    }

    /// The program calls a function of the library.
    pub(crate) fn call_of_external(
        &mut self,
        st: &State,
        callee: FuncId,
        consts: &[Value],
        args: Range,
        how: ExternalCallPolicy,
    ) -> StepResult<()> {
        let program = self.program.clone();
        let name = &program.function(callee).name;
        if FREESTANDING.contains(&name.as_str()) {
            return Ok(());
        }
        if how.forbidden && !HARMLESS.contains(&name.as_str()) {
            self.warn(format!("Disallowed call to external function: {name}\n"));
            let why = format!("`{name}` is called, and calls of external functions are not allowed");
            return Err(Flow::error_with(ErrorKind::User, why, Detail::Misuse("external calls disallowed")));
        }
        if how.warnings == ExternalCallWarning::Never
            || how.warnings == ExternalCallWarning::Once && !self.warned_externals.insert(callee)
        {
            return Ok(());
        }
        let caller = program.function(st.frame.func);
        let shown = |a: &pleach_ir::Arg| Machine::display_value(st, self.raw(st, consts, a.value));
        let list: Vec<String> = caller.args[args.as_range()].iter().map(shown).collect();
        let span = caller.spans.get(st.inst as usize).copied().unwrap_or_default();
        let at = match span.is_known() {
            true => format!(" at {}:{} {}", program.path(span), span.line, span.column),
            false => String::new(),
        };
        let words = format!("calling external: {name}({}){at}", list.join(", "));
        match how.warnings {
            ExternalCallWarning::Once => self.say(crate::messages::ExecMessage::Once(words)),
            _ => self.warn(words),
        }
        Ok(())
    }
}
