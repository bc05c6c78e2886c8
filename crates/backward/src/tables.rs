//! The conditions of `PrependSmaller` at each node, against Tables 1 and 2 of the paper.
//!
//! *Paper*: Backward §4.3. A condition of ours and one of the table are the same if the solver says so for references
//! that the program can have, and if both mention the same variables.

use crate::clock::Clock;
use crate::conjunctive::{self, Form, Solve};
use crate::disjunctive::{self, Disjuncts};
use crate::graph::{Bounds, Builder, Callees, Context, Detail, FrameId, Goal, Goals, Graph, Loops, NodeId};
use crate::layout::{AtomKind, Layout};
use crate::pointers::{Group, GroupId, Pointers};
use crate::search::{Aim, Found, Search};
use crate::transfer::{Transfer, Translator};
use crate::variables::{Var, VarId, symbol};
use pleach_expr::{SymbolKind, TermId, Terms};
use pleach_ir::callgraph::CallGraph;
use pleach_ir::{InstId, Program, Slot, text};
use pleach_smt::{BackendKind, Satisfiability, Session, SolverConfig};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

const PROGRAM: &str = include_str!("tables/prepend_smaller.ir");
const CONDITIONS: &str = include_str!("tables/conditions.txt");

/// The conditions of one table, by the number of the node.
fn table(name: &str) -> BTreeMap<u32, String> {
    let lines = CONDITIONS.lines().skip_while(|l| *l != name).skip(1).take_while(|l| !l.is_empty());
    let row = |l: &str| {
        let (n, c) = l.split_once(": ").expect("a node and its condition");
        (n[1..].parse().expect("the number of a node"), c.to_owned())
    };
    lines.map(row).collect()
}

fn bounds() -> Bounds {
    Bounds {
        loops: Loops::Unwind(1),
        inline: 0,
        climb: 0,
        context: Context::Start,
        clock: Clock::default(),
        nodes: 1000,
        detail: Detail::Operations,
        goals: Goals::Anywhere,
    }
}

/// The walk that is to be compared.
struct Walk<'a> {
    search: Search<'a>,
    transfers: Vec<Transfer>,
    /// the nodes of the paper, by their numbers
    nodes: BTreeMap<u32, NodeId>,
}

fn graph(program: &Program) -> Graph {
    let entry = program.function_named("prepend_smaller").expect("the function is there");
    let goal = program.function(entry).insts.len() - 1;
    let goals = BTreeSet::from([Goal::At(entry, InstId::new(goal))]);
    Builder::new(program, &goals, bounds(), &Callees::default(), &CallGraph::new(program)).build(entry)
}

fn walk<'a>(program: &'a Program, graph: &'a Graph, terms: &'a mut Terms) -> Walk<'a> {
    let mut pointers = Pointers::new(program, graph, Clock::default()).expect("there is time");
    let layout = Layout::new(&mut pointers).expect("the layout is supported");
    let mut translator = Translator::new(terms, graph, pointers, layout);
    translator.plain = true;
    let transfers = translator.all(Clock::default()).expect("there is time");
    let session = session();
    let f = graph.function(program, FrameId::ENTRY);
    let line = |n: &NodeId| f.spans[graph.node(*n).insts.start].line;
    let nodes = graph.order.iter().map(|n| (line(n), *n)).collect();
    let search = Search { translator, session, clock: Clock::default(), equates_arrays: false };
    Walk { search, transfers, nodes }
}

fn session() -> Session {
    Session::open(BackendKind::Bitwuzla, &SolverConfig::bare(BackendKind::Bitwuzla)).expect("a solver")
}

/// What the names of a table stand for.
struct Notation<'w, 'a> {
    walk: &'w mut Walk<'a>,
    pool: GroupId,
    new: GroupId,
}

impl<'w, 'a> Notation<'w, 'a> {
    fn new(walk: &'w mut Walk<'a>) -> Notation<'w, 'a> {
        let groups = &walk.search.translator.pointers.groups;
        let find = |wanted: fn(&Group) -> bool| GroupId(groups.iter().position(wanted).expect("a group") as u32);
        let pool = find(|g| matches!(g, Group::Pool { ty: Some(_), .. }));
        let new = find(|g| matches!(g, Group::Allocated { .. }));
        Notation { walk, pool, new }
    }

    fn terms(&mut self) -> &mut Terms {
        self.walk.search.translator.terms
    }

    /// The variable of a field.
    fn field(&mut self, name: &str) -> VarId {
        let (at, bytes) = if name == "val" { (0, 4) } else { (8, 8) };
        let tr = &mut self.walk.search.translator;
        let region = tr.layout.regions[tr.layout.region(self.pool)].clone();
        let cover = Translator::cover_known(&region, at, bytes).expect("the field is an atom");
        let (AtomKind::Bits { array } | AtomKind::Pointer { array, .. }) = cover[0].0.kind;
        tr.variables.id(Var::Array(array), SymbolKind::total(tr.layout.arrays[array]))
    }

    fn name(&mut self, name: &str) -> TermId {
        let (base, version) = name.split_once('^').unwrap_or((name, "0"));
        if let Some(n) = base.strip_prefix('c') {
            let c = format!("c{}", self.walk.nodes[&n.parse().expect("a node")].0);
            return symbol(self.terms(), &c, SymbolKind::Bits(1));
        }
        let id = match base {
            "val" | "next" => self.field(base),
            _ => self.local(base),
        };
        let tr = &mut self.walk.search.translator;
        match version {
            "in" => tr.variables.input(tr.terms, id),
            number => tr.variables.term(tr.terms, id, number.parse().expect("a version")),
        }
    }

    fn local(&mut self, name: &str) -> VarId {
        let tr = &mut self.walk.search.translator;
        let f = tr.graph.function(tr.program, FrameId::ENTRY);
        let at = f.slots.iter().position(|s| s.name.as_deref() == Some(name)).expect("a variable of the function");
        let slot = Slot(at as u32);
        match f.slots[at].ty {
            pleach_ir::Ty::Ptr => tr.variables.id(Var::Ref(FrameId::ENTRY, slot), SymbolKind::Bits(tr.layout.ref_bits)),
            _ => tr.variables.id(Var::Slot(FrameId::ENTRY, slot), SymbolKind::Bits(32)),
        }
    }

    fn condition(&mut self, text: &str) -> TermId {
        let mut all = Terms::TRUE;
        for atom in text.split(" & ") {
            let atom = self.atom(atom);
            all = self.terms().and(all, atom);
        }
        all
    }

    fn atom(&mut self, text: &str) -> TermId {
        const OPERATORS: [&str; 5] = [" = ", " != ", " <= ", " < ", " > "];
        let Some((a, op, b)) = OPERATORS.iter().find_map(|op| text.split_once(op).map(|(a, b)| (a, *op, b))) else {
            return if text == "true" { Terms::TRUE } else { self.name(text) };
        };
        let (a, b) = (self.term(a), self.term(b));
        let is_array = self.terms().has(a, pleach_expr::facts::IS_ARRAY);
        let terms = self.terms();
        match op {
            " = " if is_array => terms.array_eq(a, b),
            " = " => terms.eq(a, b),
            " != " => terms.ne(a, b),
            " <= " => terms.sle(a, b),
            " < " => terms.slt(a, b),
            _ => terms.slt(b, a),
        }
    }

    fn term(&mut self, text: &str) -> TermId {
        let Some((what, rest)) = text.split_once('(') else {
            return match text {
                "0" => {
                    let bits = self.walk.search.translator.layout.ref_bits;
                    self.terms().constant(bits, 0)
                }
                "1" => self.walk.search.translator.reference(self.new),
                name => self.name(name),
            };
        };
        let args: Vec<TermId> = arguments(&rest[..rest.len() - 1]).into_iter().map(|a| self.term(a)).collect();
        let tr = &mut self.walk.search.translator;
        let region = tr.layout.regions[tr.layout.region(self.pool)].clone();
        let zero = tr.terms.constant(64, 0);
        let i = tr.index(&region, args[1], zero, 0);
        match what {
            "read" => tr.terms.read(args[0], i),
            _ => tr.terms.store(args[0], i, args[2]),
        }
    }

    /// What holds of the references in these conditions: null, an object of the input, or the new one.
    fn references(&mut self, conditions: &[TermId]) -> Vec<TermId> {
        let (input, new) = {
            let ranges = &self.walk.search.translator.layout.ranges;
            (ranges[self.pool.index()], ranges[self.new.index()])
        };
        let (this, n) = (self.name("this"), self.name("n"));
        let mut todo = conditions.to_vec();
        let mut seen = FxHashMap::default();
        let mut all = Vec::new();
        while let Some(t) = todo.pop() {
            if seen.insert(t, ()).is_some() {
                continue;
            }
            todo.extend(self.terms().args(t));
            let tr = &mut self.walk.search.translator;
            let (bits, op) = (tr.layout.ref_bits, tr.terms.node(t).op);
            let variable = matches!(op, pleach_expr::Op::Var | pleach_expr::Op::Read);
            if variable && !tr.terms.has(t, pleach_expr::facts::IS_ARRAY) && tr.terms.width(t) == bits {
                let mut ranges = vec![(0, 0)];
                ranges.extend((t != n).then_some(input));
                ranges.extend((t != this).then_some(new));
                all.push(tr.in_ranges(t, ranges));
            }
        }
        all
    }

    fn assert_same(&mut self, at: &str, ours: TermId, text: &str) {
        let theirs = self.condition(text);
        let mut query = self.references(&[ours, theirs]);
        query.push(self.terms().ne(ours, theirs));
        let mut fresh = session();
        let answer = fresh.check(self.terms(), &query);
        let shown = self.terms().show(ours);
        assert_eq!(answer, Satisfiability::Unsat, "{at}: ours is {shown}, the table has {text}");
        let symbols =
            |t: TermId, terms: &mut Terms| -> BTreeSet<_> { terms.support(t).iter().map(|k| k.symbol()).collect() };
        let (a, b) = (symbols(ours, self.terms()), symbols(theirs, self.terms()));
        assert_eq!(a, b, "{at}: other variables: ours is {shown}, the table has {text}");
    }
}

/// The arguments of an application, at the outermost commas.
fn arguments(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut out) = (0, 0, Vec::new());
    for (i, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                out.push(text[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    out.push(text[start..].trim());
    out
}

/// The condition of the entry, over the input: no input satisfies it.
fn assert_unsatisfiable_for_inputs(walk: &mut Walk, condition: TermId) {
    let search = &mut walk.search;
    let mut map = FxHashMap::default();
    for v in search.variables_of(condition) {
        let tr = &mut search.translator;
        let (base, input) = (tr.variables.term(tr.terms, v, 0), tr.variables.input(tr.terms, v));
        map.insert(base, input);
    }
    let condition = search.translator.terms.substitute(condition, &map);
    let mut query = search.input_conditions();
    query.push(condition);
    assert_eq!(search.check(&query), Satisfiability::Unsat, "the assertion is proved");
}

#[test]
fn disjunct_propagation_has_the_conditions_of_table_1() {
    let program = text::parse(PROGRAM).expect("it is a program");
    let (graph, mut terms) = (graph(&program), Terms::new(64));
    for how in [Disjuncts::Set, Disjuncts::Whole, Disjuncts::Combined] {
        let mut walk = walk(&program, &graph, &mut terms);
        let states =
            disjunctive::states(&mut walk.search, &graph, &walk.transfers, Aim::Goals, how).expect("there is time");
        let mut notation = Notation::new(&mut walk);
        for (n, text) in table("Table 1") {
            let node = notation.walk.nodes[&n];
            let [ours] = states[node.index()][..] else {
                panic!("n{n}: {:?} has not one disjunct", states[node.index()])
            };
            notation.assert_same(&format!("Table 1, {how:?}, n{n}"), ours, &text);
        }
        let entry = states[graph.entry.index()][0];
        assert_unsatisfiable_for_inputs(&mut walk, entry);
    }
}

#[test]
fn conjunction_combination_has_the_conditions_of_table_2() {
    let program = text::parse(PROGRAM).expect("it is a program");
    let (graph, mut terms) = (graph(&program), Terms::new(64));
    let mut walk = walk(&program, &graph, &mut terms);
    let mut conditions = BTreeMap::new();
    let mut record = |n: NodeId, c: TermId| {
        conditions.insert(n, c);
    };
    let Walk { search, transfers, .. } = &mut walk;
    let found = conjunctive::run(search, &graph, transfers, Aim::Goals, Solve::Never, Form::Named, &mut record);
    assert!(matches!(found, Found::No), "the assertion is proved");
    let mut notation = Notation::new(&mut walk);
    for (n, text) in table("Table 2") {
        let node = notation.walk.nodes[&n];
        notation.assert_same(&format!("Table 2, n{n}"), conditions[&node], &text);
    }
}
