//! What a run executes and what it checks.

/// Where execution begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramEntry {
    /// `main(argc, argv)` with these arguments after the program's name
    Main { args: Vec<String> },
    /// a function with symbolic parameters
    Function(String),
    /// `LLVMFuzzerTestOneInput` with 0 … `max_size` symbolic bytes
    Fuzz { max_size: u32 },
}

/// How many elements, or bytes, a pointer parameter points to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Size {
    Exactly(u64),
    /// as many as the parameter `by` says, 0 to `most`
    Counted {
        by: String,
        most: u64,
    },
}

/// What a pointer parameter of the entry points to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pointee {
    Null,
    /// this many elements of its type
    Elements(Size),
    Bytes(Size),
    /// at most this many characters and a zero
    String(u64),
}

impl Pointee {
    /// The parameter that says how many elements there are.
    pub(crate) fn counted_by(&self) -> Option<&str> {
        match self {
            Pointee::Elements(Size::Counted { by, .. }) | Pointee::Bytes(Size::Counted { by, .. }) => Some(by),
            _ => None,
        }
    }
}

/// What is said about one parameter (`--param`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterSpec {
    pub name: String,
    pub pointee: Pointee,
    /// it may be null as well
    pub nullable: bool,
}

/// What memory holds before it is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Uninit {
    /// any value
    Symbolic,
    Zero,
}

/// What a call of a function without a body and without a model does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum External {
    /// the path ends
    Error,
    /// the result, and the memory that the arguments reach, become symbolic
    Havoc,
    /// it is called natively, in a process of its own, with one value for each argument
    Concrete,
    /// the result may be anything, and memory stays as it is: an assumption that the answer names
    Pure,
}

/// How often a loop may run each time it is entered, and what it means when it runs more often.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LoopBound {
    /// an error `loop-limit`
    Error(u32),
    /// the path is cut; calls of a function within itself are bounded likewise
    Cut(u32),
}

/// How to resolve a pointer that may refer to several objects.
pub use pleach_memory::{Resolution, Splitting};

/// What becomes of an allocation whose size depends on inputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SizeMode {
    /// one state, the size is a term
    Symbolic,
    /// one state per size
    Fork,
    /// the largest size; others are cut
    Max,
    /// the smallest size; others are cut
    Min,
    /// any one size; others are cut
    Any,
}

impl SizeMode {
    /// Which size is taken, as text.
    pub(crate) fn superlative(self) -> &'static str {
        match self {
            SizeMode::Max => "largest",
            SizeMode::Min => "smallest",
            _ => "one explored",
        }
    }
}

/// Sizes of objects that depend on inputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sizes {
    pub mode: SizeMode,
    /// bytes of the largest object that is explored where the path does not bound its size
    pub capacity: u64,
    /// all sizes of an input in one state instead of a state for each
    pub one_state: bool,
}

impl Default for Sizes {
    fn default() -> Sizes {
        Sizes { mode: SizeMode::Symbolic, capacity: 128, one_state: false }
    }
}

/// Inputs that were given.
#[derive(Clone, Debug, Default)]
pub struct FixedInputs {
    /// names and bytes, in the order the program asks for them
    pub objects: Vec<(String, Vec<u8>)>,
    /// they are found by their names, not by their order
    pub by_name: bool,
}

/// Where engines differ in what they report, and in how they order and count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rules {
    /// the smallest number divided by -1 is an error (default: on)
    pub check_min_division: bool,
    /// `memcpy` between ranges that overlap is an error (default: on)
    pub check_overlap: bool,
    /// `abs` of the smallest number is an error where the number is known, also without `check_signed_overflow`
    /// (default: off)
    pub check_known_abs: bool,
    /// a write to a lane that a vector does not have has no effect; else it is an error (default: off)
    pub ignore_lane_writes: bool,
    /// jumps and calls through a computed address try every label and function; else the path is cut (default: off)
    pub try_all_code_pointers: bool,
    /// the cases of a switch fork in reverse order (default: off)
    pub reverse_cases: bool,
    /// `klee_make_symbolic` takes whole objects and three arguments only (default: off)
    pub strict_make_symbolic: bool,
    /// `klee_prefer_cex` decides which input a test gets (default: off)
    pub heed_preferences: bool,
    /// `realloc` of a null pointer to no bytes gives null (default: off)
    pub realloc_zero_is_null: bool,
    /// symbolic files have any attributes (default: off)
    pub any_file_attributes: bool,
    /// warn of large allocations and large symbolic arrays (default: off)
    pub warn_of_large_objects: bool,
    /// new coverage is a new block in any function, and not a new edge (default: off)
    pub count_instructions_alone: bool,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules {
            check_min_division: true,
            check_overlap: true,
            check_known_abs: false,
            ignore_lane_writes: false,
            try_all_code_pointers: false,
            reverse_cases: false,
            strict_make_symbolic: false,
            heed_preferences: false,
            realloc_zero_is_null: false,
            any_file_attributes: false,
            warn_of_large_objects: false,
            count_instructions_alone: false,
        }
    }
}

#[derive(Clone, Debug)]
pub struct ExecConfig {
    pub entry: ProgramEntry,
    /// report signed overflow (default: off)
    pub check_signed_overflow: bool,
    /// report branches, addresses and output that depend on memory never written (default: off)
    pub check_uninit: bool,
    /// default: ignored
    pub leaks: pleach_state::Leaks,
    /// functions whose call is an error, whatever their body (default: none)
    pub error_functions: Vec<String>,
    /// modelled functions after whose call a step ends (default: none)
    pub stops_after: Vec<&'static str>,
    /// default: any value
    pub uninit: Uninit,
    /// default: the path ends
    pub external: External,
    /// calls deeper than this are a stack overflow (default: 8192)
    pub max_stack_depth: u32,
    /// bytes of locals beyond which a call is a stack overflow (default: 8 MiB; single larger locals count too)
    pub max_stack_bytes: u64,
    /// `malloc` of more than this gives null (default: 1 GiB)
    pub max_alloc: u64,
    /// default: none
    pub loop_bound: Option<LoopBound>,
    /// what pointers among the parameters of `Entry::Function` point to (default: null, one element, several)
    pub parameters: Vec<ParameterSpec>,
    /// assume one fixed address layout: branches that depend on it are not reported (default:
    /// off)
    pub fixed_layout: bool,
    /// keep what each state did since its node ([`pleach_state::History`]), from the first fork on (default: off)
    pub record: bool,
    /// keep them from the first input on: a loop that begins before the first fork is then seen from its first round
    /// (default: off)
    pub record_from_input: bool,
    /// default: one state per object
    pub resolution: Resolution,
    /// with dynamic segments: how many calls distinguish allocations, to guess which objects a pointer refers to;
    /// `None`: no guesses (default: 4)
    pub contexts: Option<u32>,
    /// the same objects joined at the same place get the same address on every path (default: on)
    pub reuse_segments: bool,
    /// an offset that depends on one byte of few values is a choice between them (default: on)
    pub narrow_offsets: bool,
    /// default: none
    pub splitting: Option<Splitting>,
    /// sizes that depend on inputs (default: symbolic, up to 128 bytes where the path does not bound them)
    pub sizes: Sizes,
    /// search steps of a back end that a query may take before its state has to wait, see
    /// [`Machine::step_within_budget`](crate::Machine) (default: none)
    pub query_budget: Option<u64>,
    /// decide every access through a pointer with multiple targets once more by the solver (default: off)
    pub check_resolution: bool,
    /// the program's name in `argv[0]`
    pub program_name: String,
    /// the function that stands for `main` (default: `main`)
    pub main: String,
    /// calls of the first function go to the second (default: none)
    pub aliases: Vec<(String, String)>,
    /// where engines differ (default: Pleach's rules)
    pub rules: Rules,
    /// a shift by the width or more is an error; else its result is that of shifting bit by bit (default: on)
    pub check_overshift: bool,
    /// warnings about calls out of the program into the C library (default: none)
    pub externals: Option<crate::ExternalCallPolicy>,
    /// `NAME=VALUE`, for `main` (default: none)
    pub environment: Vec<String>,
    /// the only inputs to follow (default: any)
    pub inputs: Option<FixedInputs>,
    /// report what the program writes to standard output and standard error, see [`crate::ExecMessage`] (default: off)
    pub echo: bool,
    /// default: they are only taken
    pub branches: crate::BranchLogging,
    /// a switch has one way for each case, not one for each target (default: off)
    pub split_cases: bool,
}

impl Default for ExecConfig {
    fn default() -> Self {
        ExecConfig {
            entry: ProgramEntry::Main { args: Vec::new() },
            check_signed_overflow: false,
            check_uninit: false,
            leaks: pleach_state::Leaks::Ignored,
            error_functions: Vec::new(),
            stops_after: Vec::new(),
            uninit: Uninit::Symbolic,
            external: External::Error,
            max_stack_depth: 8192,
            max_stack_bytes: 8 << 20,
            max_alloc: 1 << 30,
            loop_bound: None,
            parameters: Vec::new(),
            fixed_layout: false,
            record: false,
            record_from_input: false,
            resolution: Resolution::Fork,
            contexts: Some(4),
            reuse_segments: true,
            narrow_offsets: true,
            splitting: None,
            sizes: Sizes::default(),
            query_budget: None,
            check_resolution: false,
            program_name: "program".into(),
            main: "main".into(),
            echo: false,
            branches: crate::BranchLogging::default(),
            split_cases: false,
            aliases: Vec::new(),
            rules: Rules::default(),
            check_overshift: true,
            externals: None,
            environment: Vec::new(),
            inputs: None,
        }
    }
}

/// The run cannot begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetupError {
    NoEntry { name: String, candidates: Vec<String> },
    EntryWithoutBody(String),
    Parameter { name: String, why: String },
    Memory(String),
}

impl std::fmt::Display for SetupError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SetupError::NoEntry { name, candidates } if candidates.is_empty() => {
                write!(f, "the program has no function `{name}` and no other function with a body")
            }
            SetupError::NoEntry { name, candidates } => {
                write!(f, "the program has no function `{name}`; name one with --entry: {}", candidates.join(", "))
            }
            SetupError::EntryWithoutBody(n) => {
                write!(f, "the entry `{n}` is only declared; give the file that defines it too")
            }
            SetupError::Parameter { name, why } => write!(f, "--param {name}: {why}"),
            SetupError::Memory(m) => write!(f, "the program's globals do not fit into memory: {m}"),
        }
    }
}

impl std::error::Error for SetupError {}
