//! What pointers may point to, before the run: Andersen's analysis, and the partition of objects that follows from it.
//!
//! *Paper*: Memory §3.2.3.1 (segmented memory model). *Idea*: one variable per slot and one per abstract object's
//! contents; assignments are inclusions, loads and stores become inclusions as points-to sets grow. Abstract objects
//! are globals, functions and instructions that allocate. Objects that one access may refer to belong together.
//! *Deviations*: the analysis is insensitive to contexts and fields; integers are followed like pointers. Slots are
//! shared by values with disjoint live ranges: within a block a use means the last definition before it. *Direction*:
//! sets are too large rather than too small, except for addresses made of numbers.

use crate::ids::{FuncId, Slot};
use crate::inst::{Callee, Inst, Opnd, OpndKind};
use crate::program::{Const, Function, Init, Program, Symbol};
use effects::{Effect, effect};
use inclusions::{Inclusions, Node};
use rustc_hash::{FxHashMap, FxHashSet};

mod cycles;
mod effects;
mod inclusions;
#[cfg(test)]
mod inclusions_tests;
mod sets;

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
    /// how many there are
    objects: u32,
    sites: FxHashMap<(u32, u32), u32>,
    inclusions: Inclusions,
    /// calls through a pointer: by variable, the function and instruction
    calls: FxHashMap<Node, Vec<(u32, u32)>>,
    /// by function: the instructions that begin variable arguments
    starts: Vec<Vec<u32>>,
}

/// Which objects belong together because one access may refer to them.
pub fn partition(program: &Program) -> Partition {
    let mut a = Analysis::new(program);
    a.collect();
    a.solve();
    a.classes()
}

impl<'a> Analysis<'a> {
    fn new(program: &'a Program) -> Analysis<'a> {
        let (mut slots, mut results, mut defs, mut next) = (Vec::new(), Vec::new(), Vec::new(), 0u32);
        let (mut sites, mut starts) = (FxHashMap::default(), Vec::new());
        let globals = program.globals.len() as u32;
        let mut object = globals + program.functions.len() as u32;
        for (i, f) in program.functions.iter().enumerate() {
            slots.push(next);
            next += f.slots.len() as u32;
            results.push(next);
            next += f.results.len() as u32;
            defs.push(next);
            next += f.insts.len() as u32;
            let begins = |k: &usize| matches!(f.insts[*k], Inst::VaStart { .. });
            starts.push((0..f.insts.len()).filter(begins).map(|k| k as u32).collect());
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
            objects: object,
            sites,
            inclusions: Inclusions::new(count, next),
            calls: FxHashMap::default(),
            starts,
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
        objects.into_iter().for_each(|o| self.inclusions.add(node, o));
    }

    /// `to ⊇ from`
    fn include(&mut self, from: Node, to: Node) {
        self.inclusions.include(from, to);
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
            Ok(v) => self.inclusions.load(v, to),
            Err(Some(o)) => self.include(self.contents + o, to),
            Err(None) => {}
        }
    }

    /// `*p ⊇ value`
    fn store(&mut self, f: u32, p: Opnd, value: Node) {
        match self.pointer(f, p) {
            Ok(v) => self.inclusions.store(v, value),
            Err(Some(o)) => self.include(value, self.contents + o),
            Err(None) => {}
        }
    }

    /// A variable of its own for a value in the instruction: the contents of the object that stands for the
    /// instruction, where it is no allocation. Only for instructions with a site.
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
                    self.inclusions.watch(v);
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
        let node = self.inclusions.variable();
        self.add(node, [object]);
        node
    }

    fn copy_contents(&mut self, fi: u32, dst: Opnd, src: Opnd) {
        let node = self.inclusions.variable();
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
                for j in self.starts[g.index()].clone() {
                    let area = self.contents + self.sites[&(g.0, j)];
                    self.assign(fi, a.value, area);
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
        loop {
            let news = self.inclusions.solve();
            if news.is_empty() {
                return;
            }
            for (node, new) in news {
                for (f, k) in self.calls[&node].clone() {
                    for o in &new {
                        let function = o.wrapping_sub(self.globals);
                        if (function as usize) < self.program.functions.len() && *o >= self.globals {
                            self.call(f, k, FuncId(function));
                        }
                    }
                }
            }
        }
    }

    fn classes(&mut self) -> Partition {
        let count = self.objects;
        let mut parent: Vec<u32> = (0..count).collect();
        fn root(parent: &mut [u32], mut x: u32) -> u32 {
            while parent[x as usize] != x {
                parent[x as usize] = parent[parent[x as usize] as usize];
                x = parent[x as usize];
            }
            x
        }
        let functions = self.globals..self.globals + self.program.functions.len() as u32;
        // Many pointers share a set.
        let mut done: FxHashSet<usize> = FxHashSet::default();
        for p in &self.accessed {
            let set = self.inclusions.points_to(*p);
            if !done.insert(set.id()) {
                continue;
            }
            let mut objects = set.iter().filter(|o| !functions.contains(o));
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
