//! Assumptions of a run about the program's environment. They cut no path, but what is proved holds
//! only under them. Every answer names them, and `safe` alone is never said where there is one.

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Assumption {
    /// `main` is called with these arguments and no others
    Arguments(Vec<String>),
    /// the data of a fuzz target has at most this many bytes
    FuzzSize(u32),
    /// what a parameter of the entry is: a clause
    Parameter(String),
    /// what the operating system does: a clause
    Environment(String),
    /// this function, which has no body, returns anything and has no effect
    Pure(String),
    /// there is memory for every block: of the whole program, or of the C library and of `new` alone
    Allocation { elsewhere: bool },
    /// there is stack for every call of these functions, however deep
    Stack(Vec<String>),
    /// no loop goes round, and no function recurses, more often than this; some would
    Rounds(u32),
}

impl Assumption {
    /// Short, as in `summary.json`.
    pub fn name(&self) -> &'static str {
        match self {
            Assumption::Arguments(_) => "arguments",
            Assumption::FuzzSize(_) => "fuzz-size",
            Assumption::Parameter(_) => "parameter",
            Assumption::Environment(_) => "environment",
            Assumption::Pure(_) => "pure",
            Assumption::Allocation { .. } => "allocation",
            Assumption::Stack(_) => "stack",
            Assumption::Rounds(_) => "rounds",
        }
    }

    /// A clause that completes the words "assuming that".
    pub fn clause(&self) -> String {
        match self {
            Assumption::Arguments(args) if args.is_empty() => {
                "`main` is called without arguments (give some after `--`, or --sym-args)".into()
            }
            Assumption::Arguments(args) => format!("the program is called with `{}`", args.join(" ")),
            Assumption::FuzzSize(n) => format!("the input has at most {n} bytes (--max-fuzz-size)"),
            Assumption::Parameter(what) | Assumption::Environment(what) => what.clone(),
            Assumption::Pure(name) => {
                format!("`{name}`, which has no body, returns any value and does not change memory (--external=pure)")
            }
            Assumption::Allocation { elsewhere: false } => "allocations succeed (--malloc-may-fail)".into(),
            Assumption::Allocation { elsewhere: true } => "allocations of the C library and of `new` succeed".into(),
            Assumption::Stack(of) => {
                format!(
                    "there is stack for all calls of `{}` that are active at once (--no-contracts)",
                    of.join("`, `")
                )
            }
            Assumption::Rounds(n) => {
                format!("no loop iterates, and no function recurses, more than {n} times (--unwind)")
            }
        }
    }
}
