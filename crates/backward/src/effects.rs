//! What a call may do whose body is not followed.
//!
//! *Idea*: a flow-insensitive summary per function: whether it, or what it calls, writes to memory that is not its own,
//! and whether it ends the life of an object. Of functions of the C library without a body that is known by name. Of
//! others nothing is known: they may write everything that they can reach, and that they do not end the life of an object
//! is an assumption.

use crate::known_functions::{ends_program, is_modelled};
use crate::stream::takes;
use pleach_ir::callgraph::CallGraph;
use pleach_ir::{Callee, FuncId, Function, Inst, InstId, OpndKind, Program};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Effect {
    pub writes: Writes,
    /// an object's life may end
    pub frees: bool,
    /// code of which nothing is known runs
    pub unknown: bool,
}

/// Which memory is written.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Writes {
    #[default]
    Nothing,
    /// the objects that the arguments point to
    Arguments,
    /// all that arguments and globals lead to
    Reachable,
}

impl Effect {
    pub const UNKNOWN: Effect = Effect { writes: Writes::Reachable, frees: false, unknown: true };

    fn and(self, other: Effect) -> Effect {
        Effect {
            writes: self.writes.max(other.writes),
            frees: self.frees || other.frees,
            unknown: self.unknown || other.unknown,
        }
    }
}

/// The effects of all functions of a program.
pub struct Effects {
    of: Vec<Effect>,
}

impl Effects {
    pub fn new(program: &Program, calls: &CallGraph) -> Effects {
        let of = (0..program.functions.len()).map(|_| Effect::default()).collect();
        let mut all = Effects { of };
        loop {
            let mut changed = false;
            for (i, f) in program.functions.iter().enumerate() {
                let new = all.of[i].and(all.of_function(program, calls, FuncId::new(i), f));
                changed |= new != all.of[i];
                all.of[i] = new;
            }
            if !changed {
                return all;
            }
        }
    }

    fn of_function(&self, program: &Program, calls: &CallGraph, id: FuncId, f: &Function) -> Effect {
        if f.is_declaration() {
            return of_external(f);
        }
        let mut all = Effect::default();
        for (i, inst) in f.insts.iter().enumerate() {
            let own = match inst {
                Inst::Store { ptr, .. } => writes(f, ptr.kind()),
                Inst::MemCopy { dst, .. } | Inst::MemSet { dst, .. } => writes(f, dst.kind()),
                Inst::Call { .. } => self.of_call(program, calls, id, i),
                Inst::Unsupported { .. } => Effect::UNKNOWN,
                _ => Effect::default(),
            };
            // What a callee writes through its arguments, the caller may have got from anywhere.
            let wide = own.writes == Writes::Arguments && matches!(inst, Inst::Call { .. });
            all = all.and(if wide { Effect { writes: Writes::Reachable, ..own } } else { own });
        }
        all
    }

    /// Of the call at this instruction.
    pub fn of_call(&self, program: &Program, calls: &CallGraph, id: FuncId, i: usize) -> Effect {
        match program.function(id).insts[i] {
            Inst::Call { callee: Callee::Direct(g), .. } => {
                let f = program.function(g);
                let modelled = is_modelled(f) || takes(f).is_some() || ends_program(f);
                let frees = matches!(f.name.as_str(), "free" | "realloc");
                if modelled { Effect { frees, ..Effect::default() } } else { self.of[g.index()] }
            }
            Inst::Call { callee: Callee::Indirect(_), .. } => {
                let found = calls.candidates(id, InstId::new(i));
                found.iter().fold(Effect::UNKNOWN, |all, g| all.and(self.of[g.index()]))
            }
            _ => Effect::default(),
        }
    }
}

/// A store: nothing outside if it is to a local, or to a structure that was passed by value.
fn writes(f: &Function, ptr: OpndKind) -> Effect {
    let writes = if is_own(f, ptr) { Writes::Nothing } else { Writes::Reachable };
    Effect { writes, ..Effect::default() }
}

fn is_own(f: &Function, ptr: OpndKind) -> bool {
    let mut at = ptr;
    for _ in 0..DEEPEST {
        let OpndKind::Slot(s) = at else { return false };
        if f.copies.iter().any(|c| c.dst == s) {
            return false;
        }
        let mut defs = f.insts.iter().filter(|i| defines(f, i, s));
        match (defs.next(), defs.next()) {
            (Some(Inst::Alloca { .. }), None) => return true,
            (Some(Inst::Gep { base, .. }), None) => at = base.kind(),
            (None, None) => return f.params.iter().any(|p| p.slot == s && p.byval.is_some()),
            _ => return false,
        }
    }
    false
}

/// Computations of an address that are followed to its object.
const DEEPEST: u32 = 8;

fn defines(f: &Function, i: &Inst, s: pleach_ir::Slot) -> bool {
    let mut found = false;
    pleach_ir::defs::for_each_def(f, i, |d| found |= d == s);
    found
}

/// Of the C library's functions that neither call back nor free; others are unknown.
fn of_external(f: &Function) -> Effect {
    let name = f.name.as_str();
    let reads = READERS.contains(&name);
    let writes = if reads {
        Writes::Nothing
    } else if WRITERS.contains(&name) {
        Writes::Arguments
    } else {
        return Effect::UNKNOWN;
    };
    Effect { writes, ..Effect::default() }
}

const READERS: &[&str] = &[
    "strlen",
    "strnlen",
    "strcmp",
    "strncmp",
    "strcasecmp",
    "strncasecmp",
    "strcoll",
    "strchr",
    "strrchr",
    "strstr",
    "strpbrk",
    "strspn",
    "strcspn",
    "memcmp",
    "memchr",
    "memrchr",
    "bcmp",
    "atoi",
    "atol",
    "atoll",
    "atof",
    "abs",
    "labs",
    "llabs",
    "toupper",
    "tolower",
    "__ctype_b_loc",
    "__ctype_tolower_loc",
    "__ctype_toupper_loc",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "atan2",
    "sinh",
    "cosh",
    "tanh",
    "exp",
    "log",
    "log10",
    "log2",
    "pow",
    "sqrt",
    "floor",
    "ceil",
    "fabs",
    "fmod",
    "round",
    "trunc",
    "rand",
    "getenv",
    "localeconv",
    "strerror",
    "__errno_location",
    "clock",
    "feof",
    "ferror",
    "fileno",
    "fputc",
    "putc",
    "fwrite",
    "fopen",
    "fclose",
    "getc",
    "fgetc",
    "ungetc",
    "vprintf",
    "vfprintf",
    "isalpha",
    "isdigit",
    "isalnum",
    "isspace",
    "isupper",
    "islower",
    "ispunct",
    "isprint",
    "isxdigit",
    "iscntrl",
    "isgraph",
    "isblank",
    "isascii",
];

const WRITERS: &[&str] = &[
    "sprintf",
    "snprintf",
    "vsprintf",
    "vsnprintf",
    "strcpy",
    "strncpy",
    "stpcpy",
    "strcat",
    "strncat",
    "memcpy",
    "memmove",
    "memset",
    "strtod",
    "strtof",
    "strtol",
    "strtoul",
    "strtoll",
    "strtoull",
    "fgets",
    "fread",
    "sscanf",
    "gettimeofday",
    "time",
];
