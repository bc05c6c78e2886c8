//! Variables of the C library that hold what surrounds the program: its environment, its name. Whoever reads them
//! without asking a function assumes what the model has there.

use crate::machine::Machine;
use pleach_ir::{BlockId, Const, FuncId, GlobalId, Init, Program, Symbol};
use pleach_state::Assumption;
use std::collections::BTreeSet;

const ENVIRONMENT: &[&str] = &["environ", "__environ", "_environ", "___environ"];
const NAME: &[&str] = &["__progname", "__progname_full", "program_invocation_name", "program_invocation_short_name"];

/// Who looks at one group of variables.
struct Readers {
    functions: Vec<FuncId>,
    /// a variable points to one of them: everybody may
    anybody: bool,
}

/// Functions of the program's own that mention one of these variables, where it is the library's or nobody's.
fn readers(program: &Program, names: &[&str]) -> Readers {
    let ours = |g: &pleach_ir::Global| !program.library && g.init != Init::External;
    let wanted: BTreeSet<GlobalId> = (0..)
        .map(GlobalId)
        .zip(&program.globals)
        .filter(|(_, g)| names.contains(&g.name.as_str()) && !ours(g))
        .map(|(id, _)| id)
        .collect();
    let is_wanted = |s: &Symbol| matches!(s, Symbol::Global(g) if wanted.contains(g));
    let mentions = |c: &Const| matches!(c, Const::Addr { symbol, .. } if is_wanted(symbol));
    let functions = program
        .functions
        .iter()
        .enumerate()
        .filter(|(i, f)| program.from_library.binary_search(&FuncId::new(*i)).is_err() && f.consts.iter().any(mentions))
        .map(|(i, _)| FuncId::new(i))
        .collect();
    let points =
        |init: &Init| matches!(init, Init::Bytes { relocs, .. } if relocs.iter().any(|r| is_wanted(&r.symbol)));
    Readers { functions, anybody: program.globals.iter().any(|g| points(&g.init)) }
}

/// Who looks at which of them; found when it is first asked for.
pub(crate) struct Surroundings {
    environment: Readers,
    name: Readers,
}

impl Machine {
    /// What was assumed by functions that looked at such variables. It is enough to know the functions that some path
    /// entered: a path that is not explored would have entered no others.
    pub fn assume_surroundings(&mut self) {
        if self.reads_environment() && self.config.environment.is_empty() {
            self.assume_of_run(Assumption::Environment("no environment variable is set".into()));
        }
        if self.was_read(|s| &s.name) {
            let name = format!("the program is called `{}`", self.config.program_name);
            self.assume_of_run(Assumption::Environment(name));
        }
    }

    /// Whether some path may have looked at the environment itself so far.
    pub fn reads_environment(&self) -> bool {
        self.was_read(|s| &s.environment)
    }

    fn was_read(&self, which: impl Fn(&Surroundings) -> &Readers) -> bool {
        let all = self.surroundings.get_or_init(|| Surroundings {
            environment: readers(&self.program, ENVIRONMENT),
            name: readers(&self.program, NAME),
        });
        let by = which(all);
        by.anybody || by.functions.iter().any(|f| self.coverage.is_covered(*f, BlockId(0)))
    }
}
