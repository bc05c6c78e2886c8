//! Backward execution of one function against its interpreter.

use super::function::Function;
use super::interpret::{Input, Node, run};
use pleach_backward::{
    Answer, Clock, Config, Confirmation, Disjuncts, Effects, Exactness, Goal, InputHeap, InputValue, Loops, Solve,
    Style, SurveyOptions, Surveyed, survey,
};
use pleach_ir::callgraph::CallGraph;
use pleach_ir::{Const, FuncId, Inst, InstId, OpndKind, Program, Symbol};
use pleach_testkit::random::Rng;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// What came of the queries.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    pub functions: u64,
    pub reachable: u64,
    pub unreachable: u64,
    pub within: u64,
    pub unknown: u64,
    /// reached by brute force
    pub reached: u64,
    /// why there was no answer
    pub reasons: std::collections::BTreeMap<String, u64>,
    pub wrong: Vec<String>,
    /// seconds of CPU time and queries per style
    pub times: std::collections::BTreeMap<String, (f64, u64)>,
    /// what came of looking at all marks of a function at once
    pub surveyed: std::collections::BTreeMap<&'static str, u64>,
    /// the longest query
    pub slowest: (f64, String),
}

pub const STYLES: [Style; 6] = [
    Style::Disjunctive(Disjuncts::Set),
    Style::Disjunctive(Disjuncts::Whole),
    Style::Disjunctive(Disjuncts::Combined),
    Style::Conjunctive(Solve::Never),
    Style::Conjunctive(Solve::Always),
    Style::Conjunctive(Solve::Loops),
];

/// Half of the queries have the default; it decides what users see.
fn style(k: u64) -> Style {
    let default = Config::default().style;
    let others: Vec<Style> = STYLES.into_iter().filter(|s| *s != default).collect();
    if k.is_multiple_of(2) { default } else { others[(k / 2) as usize % others.len()] }
}

const UNWIND: u32 = 3;
/// Inputs per function by brute force.
const INPUTS: u64 = 4000;

/// In one style for each mark, or in all.
pub fn check(program: &Program, f: &Function, seed: u64, all_styles: bool, totals: &mut Totals) {
    totals.functions += 1;
    let Some(id) = program.function_named(&f.name) else { return totals.wrong.push(format!("{}: missing", f.name)) };
    let reached = brute_force(f, seed);
    survey_all(program, f, id, reached, totals);
    for mark in 1..=f.marks {
        let goals = goals(program, id, mark);
        if goals.is_empty() {
            continue;
        }
        let one = [style(seed + u64::from(mark))];
        for &style in if all_styles { &STYLES[..] } else { &one } {
            decide(program, f, seed, mark, &goals, style, reached, totals);
        }
    }
}

/// All marks at once, with and without inlined calls: what is refuted must not be reached.
fn survey_all(program: &Program, f: &Function, id: FuncId, reached: u64, totals: &mut Totals) {
    let marks: Vec<u32> = (1..=f.marks).filter(|m| !goals(program, id, *m).is_empty()).collect();
    let targets: Vec<BTreeSet<Goal>> = marks.iter().map(|m| goals(program, id, *m)).collect();
    let calls = Arc::new(CallGraph::new(program));
    let effects = Arc::new(Effects::new(program, &calls));
    let config = Config::default();
    for (loops, inline) in [(Loops::Havoc, 0), (Loops::Havoc, 2), (Loops::Unwind(2), 2)] {
        let clock = Clock::new(Some(Duration::from_secs(2)), None);
        let options = SurveyOptions {
            config: &config,
            effects: effects.clone(),
            calls: calls.clone(),
            loops,
            inline,
            clock,
            each: None,
        };
        let end = survey(program, id, &targets, &options, &mut |k, found, _| {
            let (mark, hit) = (marks[k], reached >> marks[k] & 1 == 1);
            *totals.surveyed.entry(kind(&found)).or_default() += 1;
            if found == Surveyed::Refuted && hit {
                totals.wrong.push(format!("{} mark {mark}: refuted with others, but an input reaches it", f.name));
            }
        });
        if let Err(why) = end {
            *totals.reasons.entry(why).or_default() += 1;
        }
    }
}

fn kind(found: &Surveyed) -> &'static str {
    match found {
        Surveyed::Refuted => "refuted",
        Surveyed::Candidate(_) => "candidates",
        Surveyed::Open(_) => "open",
    }
}

#[allow(clippy::too_many_arguments, reason = "one query, and all that it is compared with")]
fn decide(
    program: &Program,
    f: &Function,
    seed: u64,
    mark: u32,
    goals: &BTreeSet<Goal>,
    style: Style,
    reached: u64,
    totals: &mut Totals,
) {
    let Some(id) = program.function_named(&f.name) else { return };
    let config = Config {
        style,
        unwind: UNWIND,
        abstract_loops: seed.is_multiple_of(2),
        time: Some(std::time::Duration::from_secs(2)),
        ..Config::default()
    };
    let mut bad = None;
    let mut confirm = |heap: &InputHeap, exact| {
        let Some(input) = input(heap) else { return Confirmation::Refuted("an odd heap".into()) };
        if run(f, &input, UNWIND) >> mark & 1 == 1 || run(f, &input, 50) >> mark & 1 == 1 {
            return Confirmation::Confirmed;
        }
        if exact == Exactness::Exact {
            bad = Some(input);
        }
        Confirmation::Refuted("the input does not reach it".into())
    };
    let (answer, effort) = pleach_backward::decide(program, id, goals, &config, &mut confirm);
    let (time, name) = (effort.cpu.as_secs_f64(), format!("{style:?}"));
    if time > totals.slowest.0 {
        let work = format!("{} nodes, solver {:.1} s", effort.nodes, effort.solver.as_secs_f64());
        totals.slowest = (time, format!("{} mark {mark} {name}: {work}", f.name));
    }
    let of_style = totals.times.entry(name).or_default();
    *of_style = (of_style.0 + time, of_style.1 + 1);
    let hit = reached >> mark & 1 == 1;
    totals.reached += u64::from(hit);
    if let Some(input) = bad {
        totals.wrong.push(format!("{} mark {mark} {style:?}: the input does not reach it: {input:?}", f.name));
    }
    match answer {
        Answer::Reachable(_) => totals.reachable += 1,
        Answer::Unknown(why) => {
            totals.unknown += 1;
            *totals.reasons.entry(why).or_default() += 1;
        }
        Answer::Unreachable { .. } | Answer::UnreachableWithin(_) if hit => {
            totals.wrong.push(format!("{} mark {mark} {style:?}: {answer:?}, but an input reaches it", f.name));
        }
        Answer::Unreachable { .. } => totals.unreachable += 1,
        Answer::UnreachableWithin(_) => totals.within += 1,
    }
}

/// Marks that small random inputs reach, as bits.
fn brute_force(f: &Function, seed: u64) -> u64 {
    let mut rng = Rng::new(seed ^ 0x1e57);
    let mut reached = 0;
    for _ in 0..INPUTS {
        let n = rng.below(4);
        let mut small = |rng: &mut Rng| rng.below(10) as i32 - 3;
        let one = |rng: &mut Rng| {
            let k = rng.below(n + 1);
            (k < n).then_some(k as usize)
        };
        let node = |rng: &mut Rng, small: &mut dyn FnMut(&mut Rng) -> i32| Node {
            v: small(rng),
            p: one(rng),
            q: one(rng),
            freed: false,
        };
        let nodes = (0..n).map(|_| node(&mut rng, &mut small)).collect();
        let t = (!rng.one_in(5)).then(|| std::array::from_fn(|_| small(&mut rng)));
        let input = Input { nodes, a: one(&mut rng), b: one(&mut rng), t, x: small(&mut rng), y: small(&mut rng) };
        reached |= run(f, &input, UNWIND);
    }
    reached
}

/// The stores of the mark's number.
fn goals(program: &Program, id: FuncId, mark: u32) -> BTreeSet<Goal> {
    let f = program.function(id);
    let is_mark = |inst: &Inst| match inst {
        Inst::Store { ptr, value, .. } => match (ptr.kind(), value.kind()) {
            (OpndKind::Const(p), OpndKind::Const(v)) => {
                let sink = matches!(&f.consts[p as usize], Const::Addr { symbol: Symbol::Global(g), .. }
                    if program.global(*g).name == "sink");
                sink && matches!(f.consts[v as usize], Const::Int { value, .. } if value == u64::from(mark))
            }
            _ => false,
        },
        _ => false,
    };
    let all = f.insts.iter().enumerate().filter(|(_, i)| is_mark(i));
    all.map(|(i, _)| Goal::At(id, InstId::new(i))).collect()
}

/// The interpreter's form of an input; `None` if it has something that the functions do not have.
fn input(heap: &InputHeap) -> Option<Input> {
    let number = |v: InputValue| match v {
        InputValue::Number(n) => Some(n as u32 as i32),
        _ => None,
    };
    let mut index = Vec::new();
    let mut nodes = Vec::new();
    for o in &heap.objects {
        index.push(if o.count == 1 { nodes.len() } else { usize::MAX });
        if o.count == 1 {
            nodes.push(Node::default());
        }
    }
    let node = |v: InputValue| match v {
        InputValue::Object(o) => Some(index[o.0 as usize]),
        _ => None,
    };
    let mut arrays = vec![[0i32; 8]; heap.objects.len()];
    for (i, o) in heap.objects.iter().enumerate() {
        for field in &o.fields {
            match (o.count, field.leaf.path.as_str()) {
                (1, ".v") => nodes[index[i]].v = number(field.value)?,
                (1, ".p") => nodes[index[i]].p = node(field.value),
                (1, ".q") => nodes[index[i]].q = node(field.value),
                (8, "") => arrays[i][field.element as usize] = number(field.value)?,
                _ => return None,
            }
        }
    }
    let p = &heap.parameters;
    let t = match p[2].value {
        InputValue::Object(o) => Some(arrays[o.0 as usize]),
        _ => None,
    };
    Some(Input { nodes, a: node(p[0].value), b: node(p[1].value), t, x: number(p[3].value)?, y: number(p[4].value)? })
}
