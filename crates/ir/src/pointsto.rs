//! What pointers may point to, before the run: Andersen's analysis, and the partition of objects that follows from it.
//!
//! *Paper*: Memory §3.2.3.1 (segmented memory model). *Idea*: one variable per slot and one per abstract object's contents; assignments are
//! inclusions, loads and stores become inclusions as points-to sets grow. Abstract objects are globals, functions and instructions that
//! allocate. Objects that one access may mean belong together. *Deviations*: neither contexts nor fields are told apart; integers are
//! followed like pointers. Slots are shared by values that live apart: within a block a use means the last definition before it. *Direction*: sets are too large rather than too small, except for addresses made of numbers.

use crate::ids::{FuncId, Slot};
use crate::inst::{Callee, Inst, Opnd, OpndKind};
use crate::program::{Const, Function, Init, Program, Symbol};
use rustc_hash::{FxHashMap, FxHashSet};

type Node = u32;

/// Objects by what may be meant together.
#[derive(Clone, Debug, Default)]
pub struct Partition {
    globals: Vec<u32>,
    sites: FxHashMap<(u32, u32), u32>,
}

impl Partition {
    pub fn of_global(&self, index: u32) -> Option<u32> {
        self.globals.get(index as usize).copied()
    }
    /// The class of what an instruction of a function allocates.
    pub fn of_site(&self, func: u32, inst: u32) -> Option<u32> {
        self.sites.get(&(func, inst)).copied()
    }
}

/// What a function without a body that matters does to pointers.
enum Effect {
    None,
    /// the result is a new object
    Allocates,
    /// the result is a new object with the contents of the first argument's, or that itself
    Reallocates,
    /// the second argument's contents go to the first, which is the result
    Copies,
    /// the result is the first argument
    First,
    /// anything
    Unknown,
}

fn effect(name: &str) -> Effect {
    match name {
        "malloc" | "calloc" | "aligned_alloc" | "memalign" | "_Znwm" | "_Znam" | "_Znwj" | "_Znaj" => Effect::Allocates,
        "realloc" => Effect::Reallocates,
        "memcpy" | "memmove" | "__memcpy_chk" | "__memmove_chk" => Effect::Copies,
        "memset" | "__memset_chk" => Effect::First,
        "free" | "exit" | "abort" | "printf" | "puts" | "putchar" | "malloc_usable_size" | "__assert_fail" => {
            Effect::None
        }
        n if n.starts_with("klee_") || n.starts_with("__VERIFIER_") || n.starts_with("_Zd") => Effect::None,
        _ => Effect::Unknown,
    }
}

struct Analysis<'a> {
    program: &'a Program,
    /// first slot of each function
    slots: Vec<Node>,
    /// first result of each function
    results: Vec<Node>,
    /// what instruction `k` of function `f` gives is variable `defs[f] + k`
    defs: Vec<Node>,
    /// by slot: its definition in the block being looked at
    current: FxHashMap<usize, Node>,
    /// pointers that are loaded from or stored to
    accessed: Vec<Node>,
    /// contents of object `o` are variable `contents + o`
    contents: Node,
    globals: u32,
    sites: FxHashMap<(u32, u32), u32>,
    points_to: Vec<FxHashSet<u32>>,
    copies: Vec<Vec<Node>>,
    loads: Vec<Vec<Node>>,
    stores: Vec<Vec<Node>>,
    /// calls through a pointer: by variable, the function and instruction
    calls: FxHashMap<Node, Vec<(u32, u32)>>,
    todo: Vec<(Node, Vec<u32>)>,
}

/// Which objects belong together because one access may mean them.
pub fn partition(program: &Program) -> Partition {
    let mut a = Analysis::new(program);
    a.collect();
    a.solve();
    a.classes()
}

impl<'a> Analysis<'a> {
    fn new(program: &'a Program) -> Analysis<'a> {
        let (mut slots, mut results, mut defs, mut next) = (Vec::new(), Vec::new(), Vec::new(), 0u32);
        let mut sites = FxHashMap::default();
        let globals = program.globals.len() as u32;
        let mut object = globals + program.functions.len() as u32;
        for (i, f) in program.functions.iter().enumerate() {
            slots.push(next);
            next += f.slots.len() as u32;
            results.push(next);
            next += f.results.len() as u32;
            defs.push(next);
            next += f.insts.len() as u32;
            for (k, inst) in f.insts.iter().enumerate() {
                if matches!(inst, Inst::Alloca { .. } | Inst::Call { .. } | Inst::VaStart { .. }) {
                    sites.insert((i as u32, k as u32), object);
                    object += 1;
                }
            }
        }
        let count = (next + object) as usize;
        Analysis {
            program,
            slots,
            results,
            defs,
            current: FxHashMap::default(),
            accessed: Vec::new(),
            contents: next,
            globals,
            sites,
            points_to: vec![FxHashSet::default(); count],
            copies: vec![Vec::new(); count],
            loads: vec![Vec::new(); count],
            stores: vec![Vec::new(); count],
            calls: FxHashMap::default(),
            todo: Vec::new(),
        }
    }

    /// All that a slot ever holds.
    fn slot(&self, f: u32, s: Slot) -> Node {
        self.slots[f as usize] + s.index() as u32
    }

    /// What it holds here.
    fn used(&self, f: u32, s: Slot) -> Node {
        self.current.get(&s.index()).copied().unwrap_or_else(|| self.slot(f, s))
    }

    fn result(&self, f: u32, k: u32) -> Node {
        self.defs[f as usize] + k
    }

    fn object(&self, s: Symbol) -> u32 {
        match s {
            Symbol::Global(g) => g.0,
            Symbol::Function(f) | Symbol::Block(f, _) => self.globals + f.0,
        }
    }

    fn add(&mut self, node: Node, objects: impl IntoIterator<Item = u32>) {
        let set = &mut self.points_to[node as usize];
        let new: Vec<u32> = objects.into_iter().filter(|o| set.insert(*o)).collect();
        if !new.is_empty() {
            self.todo.push((node, new));
        }
    }

    /// `to ⊇ from`
    fn include(&mut self, from: Node, to: Node) {
        if from != to && !self.copies[from as usize].contains(&to) {
            self.copies[from as usize].push(to);
            let known: Vec<u32> = self.points_to[from as usize].iter().copied().collect();
            self.add(to, known);
        }
    }

    /// `to ⊇ value`
    fn assign(&mut self, f: u32, value: Opnd, to: Node) {
        match value.kind() {
            OpndKind::Slot(s) => self.include(self.used(f, s), to),
            OpndKind::Const(c) => {
                if let Const::Addr { symbol, .. } = self.program.functions[f as usize].consts[c as usize] {
                    let o = self.object(symbol);
                    self.add(to, [o]);
                }
            }
        }
    }

    /// A variable for an operand; constants get none but are looked at by `f`.
    fn pointer(&mut self, f: u32, p: Opnd) -> Result<Node, Option<u32>> {
        match p.kind() {
            OpndKind::Slot(s) => Ok(self.used(f, s)),
            OpndKind::Const(c) => Err(match self.program.functions[f as usize].consts[c as usize] {
                Const::Addr { symbol, .. } => Some(self.object(symbol)),
                _ => None,
            }),
        }
    }

    /// `to ⊇ *p`
    fn load(&mut self, f: u32, p: Opnd, to: Node) {
        match self.pointer(f, p) {
            Ok(v) => {
                self.loads[v as usize].push(to);
                for o in self.known(v) {
                    self.include(self.contents + o, to);
                }
            }
            Err(Some(o)) => self.include(self.contents + o, to),
            Err(None) => {}
        }
    }

    /// `*p ⊇ value`
    fn store(&mut self, f: u32, p: Opnd, value: Node) {
        match self.pointer(f, p) {
            Ok(v) => {
                self.stores[v as usize].push(value);
                for o in self.known(v) {
                    self.include(value, self.contents + o);
                }
            }
            Err(Some(o)) => self.include(value, self.contents + o),
            Err(None) => {}
        }
    }

    fn known(&self, v: Node) -> Vec<u32> {
        self.points_to[v as usize].iter().copied().collect()
    }

    /// A variable of its own for a value in the instruction: the contents of the object that stands for the instruction, where it is no
    /// allocation. Only for instructions with a site.
    fn scratch(&self, f: u32, k: u32) -> Node {
        self.contents + self.sites[&(f, k)]
    }

    fn collect(&mut self) {
        let program = self.program;
        for (g, global) in program.globals.iter().enumerate() {
            if let Init::Bytes { relocs, .. } = &global.init {
                let objects: Vec<u32> = relocs.iter().map(|r| self.object(r.symbol)).collect();
                self.add(self.contents + g as u32, objects);
            }
        }
        for (i, f) in program.functions.iter().enumerate() {
            let fi = i as u32;
            for block in &f.blocks {
                self.current.clear();
                for k in block.first.0..block.first.0 + block.len {
                    let inst = &f.insts[k as usize];
                    self.instruction(fi, f, k, inst);
                    let made = self.result(fi, k);
                    crate::defs::for_each_result(f, inst, |s| {
                        self.include(made, self.slot(fi, s));
                        self.current.insert(s.index(), made);
                    });
                    crate::defs::for_each_edge(f, inst, |e| {
                        for c in crate::defs::edge_copies(f, e) {
                            let to = self.slot(fi, c.dst);
                            self.assign(fi, c.src, to);
                        }
                    });
                }
            }
        }
    }

    fn instruction(&mut self, fi: u32, f: &Function, k: u32, inst: &Inst) {
        let accessed: &[Opnd] = match inst {
            Inst::Load { ptr, .. } | Inst::Store { ptr, .. } => &[*ptr],
            Inst::MemCopy { dst, src, .. } => &[*dst, *src],
            Inst::MemSet { dst, .. } => &[*dst],
            _ => &[],
        };
        for p in accessed.iter().filter_map(|p| p.as_slot()) {
            let node = self.used(fi, p);
            self.accessed.push(node);
        }
        match *inst {
            Inst::Load { ptr, .. } | Inst::VaArg { list: ptr, .. } => self.load(fi, ptr, self.result(fi, k)),
            Inst::Store { ptr, value, .. } => match value.kind() {
                OpndKind::Slot(s) => self.store(fi, ptr, self.used(fi, s)),
                OpndKind::Const(_) => {
                    // The address of a global goes straight into what the pointer means.
                    if let Err(Some(o)) = self.pointer(fi, value) {
                        let from = self.address(o);
                        self.store(fi, ptr, from);
                    }
                }
            },
            Inst::Alloca { .. } => {
                let o = self.sites[&(fi, k)];
                self.add(self.result(fi, k), [o]);
            }
            Inst::MemCopy { dst, src, .. } | Inst::VaCopy { dst, src } => self.copy_contents(fi, dst, src),
            Inst::Call { callee: Callee::Direct(g), .. } => self.call(fi, k, g),
            Inst::Call { callee: Callee::Indirect(p), .. } => {
                if let Ok(v) = self.pointer(fi, p) {
                    self.calls.entry(v).or_default().push((fi, k));
                }
            }
            Inst::Return { values } => {
                for (n, a) in f.args[values.as_range()].iter().enumerate() {
                    if n < f.results.len() {
                        let to = self.results[fi as usize] + n as u32;
                        self.assign(fi, a.value, to);
                    }
                }
            }
            Inst::Cmp { .. } | Inst::FCmp { .. } | Inst::MemSet { .. } | Inst::VaStart { .. } => {}
            _ => {
                let to = self.result(fi, k);
                crate::defs::for_each_operand(f, inst, |o| self.assign(fi, o, to));
            }
        }
    }

    /// A variable that points to an object and nothing else: the function's own if it is one, or one made for it.
    fn address(&mut self, object: u32) -> Node {
        let node = self.points_to.len() as Node;
        self.points_to.push(FxHashSet::default());
        self.copies.push(Vec::new());
        self.loads.push(Vec::new());
        self.stores.push(Vec::new());
        self.add(node, [object]);
        node
    }

    fn copy_contents(&mut self, fi: u32, dst: Opnd, src: Opnd) {
        let node = self.points_to.len() as Node;
        self.points_to.push(FxHashSet::default());
        self.copies.push(Vec::new());
        self.loads.push(Vec::new());
        self.stores.push(Vec::new());
        self.load(fi, src, node);
        self.store(fi, dst, node);
    }

    fn call(&mut self, fi: u32, k: u32, g: FuncId) {
        let program = self.program;
        let f = &program.functions[fi as usize];
        let Inst::Call { dsts, args, .. } = f.insts[k as usize] else { return };
        let target = program.function(g);
        let (args, dsts) = (&f.args[args.as_range()], &f.dsts[dsts.as_range()]);
        let site = self.sites[&(fi, k)];
        let result = (!dsts.is_empty()).then(|| self.result(fi, k));
        let known = effect(&target.name);
        if !target.is_declaration() && matches!(known, Effect::Unknown) {
            for (p, a) in target.params.iter().zip(args) {
                let to = self.slot(g.0, p.slot);
                if p.byval.is_some() {
                    self.add(to, [site]);
                    let from = self.scratch(fi, k);
                    self.load(fi, a.value, from);
                } else {
                    self.assign(fi, a.value, to);
                }
            }
            // Further arguments lie in an object that `va_start` makes; whoever reads it is told by the site.
            for a in args.iter().skip(target.params.len()) {
                for (j, inst) in target.insts.iter().enumerate() {
                    if matches!(inst, Inst::VaStart { .. }) {
                        let area = self.contents + self.sites[&(g.0, j as u32)];
                        self.assign(fi, a.value, area);
                    }
                }
            }
            for n in 0..dsts.len().min(target.results.len()) {
                self.include(self.results[g.index()] + n as u32, self.result(fi, k));
            }
            return;
        }
        match (known, result) {
            (Effect::Allocates, Some(r)) => self.add(r, [site]),
            (Effect::Reallocates, Some(r)) => {
                self.add(r, [site]);
                if let Some(a) = args.first() {
                    self.assign(fi, a.value, r);
                    self.load(fi, a.value, self.contents + site);
                }
            }
            (Effect::Copies, r) => {
                if let [d, s, ..] = args {
                    self.copy_contents(fi, d.value, s.value);
                    if let Some(r) = r {
                        self.assign(fi, d.value, r);
                    }
                }
            }
            (Effect::First, Some(r)) => {
                if let Some(a) = args.first() {
                    self.assign(fi, a.value, r);
                }
            }
            (Effect::Unknown, r) => {
                // Everything that goes in may come out, and may be stored in what the arguments point to.
                let all = self.contents + site;
                self.add(all, [site]);
                for a in args {
                    self.assign(fi, a.value, all);
                    self.load(fi, a.value, all);
                    self.store(fi, a.value, all);
                }
                if let Some(r) = r {
                    self.include(all, r);
                }
            }
            _ => {}
        }
    }

    fn solve(&mut self) {
        // Calls found from here on take all that a slot ever holds.
        self.current.clear();
        while let Some((node, new)) = self.todo.pop() {
            let n = node as usize;
            for to in self.copies[n].clone() {
                self.add(to, new.iter().copied());
            }
            for to in self.loads[n].clone() {
                new.iter().for_each(|o| self.include(self.contents + o, to));
            }
            for from in self.stores[n].clone() {
                new.iter().for_each(|o| self.include(from, self.contents + o));
            }
            for (f, k) in self.calls.get(&node).cloned().unwrap_or_default() {
                for o in &new {
                    let function = o.wrapping_sub(self.globals);
                    if (function as usize) < self.program.functions.len() && *o >= self.globals {
                        self.call(f, k, FuncId(function));
                    }
                }
            }
        }
    }

    fn classes(&self) -> Partition {
        let count = self.points_to.len() as u32 - self.contents;
        let mut parent: Vec<u32> = (0..count).collect();
        fn root(parent: &mut [u32], mut x: u32) -> u32 {
            while parent[x as usize] != x {
                parent[x as usize] = parent[parent[x as usize] as usize];
                x = parent[x as usize];
            }
            x
        }
        let functions = self.globals..self.globals + self.program.functions.len() as u32;
        for p in &self.accessed {
            let mut objects = self.points_to[*p as usize].iter().copied().filter(|o| !functions.contains(o));
            let Some(first) = objects.next() else { continue };
            for o in objects {
                let (a, b) = (root(&mut parent, first), root(&mut parent, o));
                parent[a.max(b) as usize] = a.min(b);
            }
        }
        let globals = (0..self.globals).map(|g| root(&mut parent, g)).collect();
        let sites = self.sites.iter().map(|(k, o)| (*k, root(&mut parent, *o))).collect();
        Partition { globals, sites }
    }
}
