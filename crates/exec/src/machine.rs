//! The machine: the program made ready to run, the term table, the solver, and what a run collects.

use crate::config::{ExecConfig, ProgramEntry, SetupError, Uninit};
use crate::coverage::Coverage;
use crate::flow::Step;
use crate::messages::ExecMessage;
use crate::models::{self, ModelFn};
use pleach_expr::Terms;
use pleach_ir::cfg::Cfg;
use pleach_ir::dominators::Dominators;
use pleach_ir::loops::Loops;
use pleach_ir::{BlockId, Const, FuncId, Init, Program};
use pleach_memory::{
    AddressSpace, Background, Contents, MemoryModel, ObjId, ObjectKind, RelocatableMemory, Site, Value,
};
use pleach_semantics::address_of;
use pleach_smt::Solver;
use pleach_state::{Assumption, Phase, State};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::Duration;

/// The program with its constants as values and its library models found.
pub(crate) struct Code {
    pub program: Rc<Program>,
    /// by function, parallel to `Function::consts`
    pub consts: Vec<Box<[Value]>>,
    /// what stands in for a function
    pub models: Vec<Option<ModelFn>>,
    /// blocks where paths meet, by function, only when traces are kept
    pub joins: Vec<Vec<bool>>,
    /// by function and block: the blocks of the loop that begins there; only under a bound on loops
    pub loops: Vec<Vec<Option<pleach_ir::bitset::BitSet>>>,
    /// calls of the first function go to the second
    pub aliases: BTreeMap<FuncId, FuncId>,
    /// functions that come with the C library; only where calls of them are told
    pub library: BTreeSet<FuncId>,
    /// modelled functions after whose call a step ends
    pub stops_after: BTreeSet<FuncId>,
    /// something is to be done after a branch: it is recorded or followed, or loops are bounded
    pub has_branch_hooks: bool,
}

pub struct Machine {
    pub program: Rc<Program>,
    pub terms: Terms,
    pub solver: Box<dyn Solver>,
    pub coverage: Coverage,
    pub config: ExecConfig,
    pub(crate) code: Rc<Code>,
    /// time in the solver chain, and queries handed to it
    pub solver_time: Duration,
    pub queries: u64,
    pub resolved: crate::resolution_stats::ResolutionStatistics,
    /// what lies where, and where pointers go
    pub(crate) model: Box<dyn MemoryModel>,
    pub(crate) contexts: crate::allocation_contexts::Contexts,
    /// which objects belong together, found for static segments when the first objects are joined
    pub(crate) partition: std::cell::OnceCell<pleach_ir::pointsto::Partition>,
    pub(crate) address_dependence: crate::address_dependence::AddressDependence,
    pub(crate) dropped: crate::dropped_alternatives::DroppedAlternatives,
    pub(crate) numbers: crate::address_substitution::AddressSubstitution,
    pub(crate) few: crate::small_value_set::SmallValueSets,
    pub(crate) query_budget: crate::query_budget::QueryBudget,
    /// where the program is when queries go to a back end, and what they take
    pub query_costs: crate::query_costs::QueryCosts,
    /// decisions about pointers that the solver does not confirm
    pub disagreements: Vec<String>,
    /// LLVM instructions executed on all paths
    pub instructions: u64,
    messages: Vec<ExecMessage>,
    warned_once: BTreeSet<String>,
    /// functions of the library whose call was told
    pub(crate) warned_externals: BTreeSet<FuncId>,
    pub(crate) spent: crate::branches::ForkQuotaUse,
    /// blocks whose first entries are kept in `target_hits`
    pub targets: BTreeSet<(FuncId, BlockId)>,
    pub target_hits: Vec<TargetHit>,
    /// who is told at once of the first entry of each, with the inputs that lead there
    pub arrived: Option<Arrived>,
    /// where steps have to end early
    pub(crate) stop_points: Option<pleach_state::StopPoints>,
    /// steps at hand are no part of the run
    pub(crate) is_aside: std::cell::Cell<bool>,
    /// models of paths may violate their quantifiers
    pub(crate) weak_quantifiers: bool,
    /// assumptions made so far
    pub assumptions: BTreeSet<Assumption>,
    pub(crate) surroundings: std::cell::OnceCell<crate::surroundings::Surroundings>,
    /// who calls functions natively, if that is wanted
    pub native_calls: Option<Box<dyn crate::external::NativeCalls>>,
}

/// Is told of a block that was entered, and by which inputs.
pub type Arrived = Box<dyn FnMut(FuncId, BlockId, Vec<crate::ConcreteInput>)>;

/// A state that was among the first to enter a block, as it was then.
pub struct TargetHit {
    pub func: FuncId,
    pub block: BlockId,
    pub state: State,
}

impl Machine {
    pub fn new(program: Rc<Program>, solver: Box<dyn Solver>, config: ExecConfig) -> Result<Machine, SetupError> {
        let mut terms = Terms::new(program.target.pointer_bits());
        let consts = program
            .functions
            .iter()
            .map(|f| f.consts.iter().map(|c| constant(&mut terms, &program, c)).collect())
            .collect();
        let modelled = |f: &pleach_ir::Function| match config.error_functions.contains(&f.name) {
            true => Some(models::ERROR),
            false => models::find(&f.name, f.is_declaration()),
        };
        let models = program.functions.iter().map(modelled).collect();
        let loops = match config.loop_bound {
            Some(_) => program.functions.iter().map(pleach_ir::loops::bodies_by_header).collect(),
            None => Vec::new(),
        };
        let joins = if config.record {
            program.functions.iter().map(|f| join_blocks(f, config.record_from_input)).collect()
        } else {
            Vec::new()
        };
        // The C library's start calls `main`, which may have another name.
        let main = (config.main != "main" && program.library).then(|| ("main".to_owned(), config.main.clone()));
        let functions =
            |(from, to): &(String, String)| Some((program.function_named(from)?, program.function_named(to)?));
        let aliases = transitive(config.aliases.iter().chain(&main).filter_map(functions).collect());
        let library = match config.externals {
            Some(_) => program.from_library.iter().copied().collect(),
            None => BTreeSet::new(),
        };
        let has_branch_hooks = config.branches.are_kept() || !loops.is_empty();
        let code = Rc::new(Code {
            program: program.clone(),
            consts,
            models,
            joins,
            loops,
            aliases,
            library,
            stops_after: config.stops_after.iter().filter_map(|name| program.function_named(name)).collect(),
            has_branch_hooks,
        });
        let model = Box::new(RelocatableMemory::new(config.resolution, config.splitting, config.reuse_segments));
        Ok(Machine {
            coverage: Coverage::new(&program),
            program,
            terms,
            solver,
            config,
            code,
            solver_time: Duration::ZERO,
            queries: 0,
            resolved: Default::default(),
            model,
            contexts: Default::default(),
            partition: Default::default(),
            address_dependence: Default::default(),
            dropped: Default::default(),
            numbers: Default::default(),
            few: Default::default(),
            query_budget: Default::default(),
            query_costs: Default::default(),
            disagreements: Vec::new(),
            instructions: 0,
            messages: Vec::new(),
            warned_once: BTreeSet::new(),
            native_calls: None,
            warned_externals: BTreeSet::new(),
            spent: Default::default(),
            targets: BTreeSet::new(),
            target_hits: Vec::new(),
            arrived: None,
            stop_points: None,
            is_aside: Default::default(),
            weak_quantifiers: false,
            assumptions: BTreeSet::new(),
            surroundings: Default::default(),
        })
    }

    /// Records an assumption, from here on and in every answer.
    pub(crate) fn assume_of_run(&mut self, what: Assumption) {
        if !self.assumptions.contains(&what) {
            self.assumptions.insert(what);
        }
    }

    pub fn pointer_bits(&self) -> u16 {
        self.terms.pointer_bits
    }
    pub(crate) fn pointer_bytes(&self) -> u64 {
        u64::from(self.terms.pointer_bits) / 8
    }

    /// Says something once per run.
    pub(crate) fn warn_once(&mut self, message: String) {
        if self.warned_once.insert(message.clone()) {
            self.messages.push(ExecMessage::Once(message));
        }
    }
    pub(crate) fn warn(&mut self, message: String) {
        self.messages.push(ExecMessage::Warning(message));
    }
    pub(crate) fn say(&mut self, messages: ExecMessage) {
        self.messages.push(messages);
    }

    /// What was said since the last call.
    pub fn messages(&mut self) -> Vec<ExecMessage> {
        std::mem::take(&mut self.messages)
    }

    /// A human-readable value: a number, or that it is none.
    pub fn display_value(state: &State, value: Value) -> String {
        match value {
            Value::Int(n) => n.to_string(),
            Value::Ptr { obj, off } => state.memory.address(obj).wrapping_add(off as u64).to_string(),
            Value::Term(_) | Value::Undef => "symbolic".into(),
        }
    }

    /// The object of `errno`: it comes after the functions.
    pub(crate) fn errno_object(&self) -> ObjId {
        pleach_semantics::errno_object(&self.program)
    }

    /// The function a code pointer names.
    pub(crate) fn function_at(&self, obj: ObjId) -> Option<FuncId> {
        let g = self.program.globals.len() as u32;
        (obj.0 >= g && obj.0 < g + self.program.functions.len() as u32).then(|| FuncId(obj.0 - g))
    }

    pub(crate) fn background(&self) -> Background {
        match self.config.uninit {
            Uninit::Symbolic => Background::Uninit,
            Uninit::Zero => Background::Zero,
        }
    }

    fn globals(&mut self) -> Result<AddressSpace, SetupError> {
        let program = self.program.clone();
        let mut space = AddressSpace::new(self.pointer_bits());
        let pointer_bytes = self.pointer_bytes() as usize;
        for (i, g) in program.globals.iter().enumerate() {
            let contents = match &g.init {
                Init::Bytes { bytes, .. } => Contents::from_bytes(bytes),
                Init::Zero => Contents::new(g.size, Background::Zero),
                Init::External | Init::Unsupported { .. } => Contents::new(g.size, Background::Uninit),
            };
            if let Init::Unsupported { what } = &g.init {
                self.warn_once(format!(
                    "the initialiser of `{}` is not supported ({what}): its contents are symbolic",
                    g.name
                ));
            }
            let site = Site::new(u32::MAX, i as u32);
            space
                .allocate(g.size, u64::from(g.align), ObjectKind::Global, site, contents)
                .map_err(|_| SetupError::Memory(g.name.clone()))?;
        }
        for (i, f) in program.functions.iter().enumerate() {
            let site = Site::new(i as u32, 0);
            space
                .allocate(f.blocks.len() as u64, 16, ObjectKind::Function, site, Contents::new(0, Background::Zero))
                .map_err(|_| SetupError::Memory(f.name.clone()))?;
        }
        for (i, g) in program.globals.iter().enumerate() {
            let id = ObjId(i as u32);
            if let Init::Bytes { relocs, .. } = &g.init {
                for r in relocs {
                    let v = address_of(&program, r.symbol, r.addend);
                    if let Some(o) = space.get_mut(id) {
                        o.contents.write(&mut self.terms, r.offset, pointer_bytes, v);
                    }
                }
            }
            if let Some(o) = space.get_mut(id) {
                o.readonly = g.constant;
            }
        }
        let site = Site::new(u32::MAX, u32::MAX);
        space
            .allocate(4, 4, ObjectKind::Global, site, Contents::new(4, Background::Zero))
            .map_err(|_| SetupError::Memory("errno".into()))?;
        Ok(space)
    }

    fn entry(&self) -> Result<FuncId, SetupError> {
        let name = match &self.config.entry {
            ProgramEntry::Main { .. } => &self.config.main,
            ProgramEntry::Function(f) => f,
            ProgramEntry::Fuzz { .. } => "LLVMFuzzerTestOneInput",
        };
        let Some(id) = self.program.function_named(name) else {
            let mut candidates: Vec<String> =
                self.program.functions.iter().filter(|f| !f.is_declaration()).map(|f| f.name.clone()).collect();
            candidates.sort();
            candidates.truncate(12);
            return Err(SetupError::NoEntry { name: name.into(), candidates });
        };
        if self.program.function(id).is_declaration() {
            return Err(SetupError::EntryWithoutBody(name.into()));
        }
        // With the C library linked, what comes before `main` is code, too.
        let start = self.program.function_named("__pleach_start").filter(|_| self.program.library);
        Ok(match (&self.config.entry, start) {
            (ProgramEntry::Main { .. }, Some(start)) => start,
            _ => id,
        })
    }

    /// Where exploration begins: several states where the size of the input is a choice.
    pub fn initial_states(&mut self) -> Result<Vec<State>, SetupError> {
        let entry = self.entry()?;
        let memory = self.globals()?;
        let slots = self.program.function(entry).slots.len();
        let first = State::new(memory, entry, slots);
        let mut states = match self.config.entry.clone() {
            ProgramEntry::Main { args } => {
                let mut st = first;
                self.main_arguments(&mut st, &args)?;
                vec![st]
            }
            ProgramEntry::Function(_) => {
                let program = self.program.clone();
                let choices = self.parameter_choices(&program.function(entry).params)?;
                let one = |choice: &Vec<_>| {
                    let mut st = first.clone();
                    self.symbolic_parameters(&mut st, choice)?;
                    Ok(st)
                };
                choices.iter().map(one).collect::<Result<_, SetupError>>()?
            }
            ProgramEntry::Fuzz { max_size } => {
                self.assume_of_run(Assumption::FuzzSize(max_size));
                // Given inputs have one size.
                let together = self.config.sizes.one_state && self.config.inputs.is_none() && max_size > 1;
                let alone = if together { 0 } else { max_size };
                let mut states = (0..=alone)
                    .map(|n| {
                        let mut st = first.clone();
                        self.fuzz_data(&mut st, n)?;
                        Ok(st)
                    })
                    .collect::<Result<Vec<State>, SetupError>>()?;
                if together {
                    let mut st = first.clone();
                    self.fuzz_data_up_to(&mut st, max_size)?;
                    states.push(st);
                }
                states
            }
        };
        for st in &mut states {
            st.record = self.config.branches.are_kept().then(Rc::default);
            let f = st.frame.func;
            if self.program.constructors.is_empty() {
                self.count_entry(st, f);
            } else {
                self.push_constructor(st, 0);
            }
        }
        Ok(states)
    }

    /// Suspends the frame on top and enters constructor `n`.
    pub(crate) fn push_constructor(&mut self, st: &mut State, n: u32) {
        let f = self.program.constructors[n as usize];
        st.phase = Phase::Constructor(n);
        self.enter_function(st, f, &[], Rc::new([]), pleach_ir::Range::default());
    }

    /// Runs a state for at most `budget` blocks.
    pub fn step(&mut self, state: &mut State, budget: u32) -> Step {
        if state.pending.is_some()
            && let Some(step) = self.settle_pending(state)
        {
            return step;
        }
        let code = self.code.clone();
        match (state.history.is_kept(), self.stop_points.is_some()) {
            (false, false) => self.run::<false, false>(&code, state, budget),
            (true, false) => self.run::<true, false>(&code, state, budget),
            (false, true) => self.run::<false, true>(&code, state, budget),
            (true, true) => self.run::<true, true>(&code, state, budget),
        }
    }
}

/// Where a replacement is itself replaced, the last one is called. A circle is followed once.
fn transitive(aliases: BTreeMap<FuncId, FuncId>) -> BTreeMap<FuncId, FuncId> {
    let last = |&from: &FuncId| {
        let mut to = aliases[&from];
        for _ in 0..aliases.len() {
            match aliases.get(&to) {
                Some(&next) if next != from => to = next,
                _ => break,
            }
        }
        (from, to)
    };
    aliases.keys().map(last).collect()
}

fn constant(terms: &mut Terms, program: &Program, c: &Const) -> Value {
    match c {
        Const::Int { value, .. } => Value::Int(*value),
        Const::Wide { width, limbs } => Value::Term(terms.wide_constant(*width, limbs)),
        Const::Addr { symbol, addend } => address_of(program, *symbol, *addend),
        Const::Undef { .. } => Value::Undef,
    }
}

/// Blocks that are entered by several edges; `exits`: and those that follow a loop.
fn join_blocks(f: &pleach_ir::Function, exits: bool) -> Vec<bool> {
    let mut edges = vec![0u32; f.blocks.len()];
    for i in &f.insts {
        pleach_ir::defs::for_each_edge(f, i, |e| edges[e.target.index()] += 1);
    }
    let mut joins: Vec<bool> = edges.into_iter().map(|n| n > 1).collect();
    if exits && !f.blocks.is_empty() {
        let cfg = Cfg::new(f);
        let loops = Loops::new(&cfg, &Dominators::new(&cfg));
        loops.iter().flat_map(|(_, l)| &l.exits).for_each(|(_, to)| joins[to.index()] = true);
    }
    joins
}
