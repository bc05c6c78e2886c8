//! Targets that forward execution meets at the start of their functions.

use pleach_backward::{Config, Goal, meet};
use pleach_ir::{FuncId, InstId, Program};
use pleach_verify::target::{Target, TargetLocations};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Where the bodies of functions are after meetings stand in front of them.
#[derive(Default)]
struct Bodies(BTreeMap<FuncId, FuncId>);

impl Bodies {
    fn of(&self, mut f: FuncId) -> FuncId {
        while let Some(&body) = self.0.get(&f) {
            f = body;
        }
        f
    }
}

/// Iterations of each loop; the graph's size is bounded anyway.
pub(crate) const UNWIND: u32 = 64;

/// Meets every target that lies in one function other than the entry; says of each whether, one per line.
pub fn both_ends(program: &mut Rc<Program>, entry: &str, targets: &mut [Target], config: &Config) -> String {
    // Backward execution only prepares: it gets a quarter of the time, and unwinds what it can.
    let time = config.time.map(|t| t / 4 / u32::try_from(targets.len()).unwrap_or(1).max(1));
    let config = &Config { time, unwind: config.unwind.max(UNWIND), ..config.clone() };
    let (mut bodies, mut met, mut notes) = (Bodies::default(), Vec::new(), String::new());
    let entry = program.function_named(entry);
    for target in targets.iter() {
        let name = program.function(first(target)).name.clone();
        let (found, note) = match one(program, entry, target, &bodies, config) {
            Ok((meeting, f)) => {
                *program = Rc::new(meeting.program);
                bodies.0.insert(f, meeting.body);
                let rest = if meeting.complete { "" } else { ", but not in every way" };
                (Some((meeting.at, meeting.complete)), format!("is met where {name} starts{rest}"))
            }
            Err(why) => (None, format!("is not met: {why}")),
        };
        met.push(found);
        notes.push_str(&format!("  {} {note}\n", target.name));
    }
    for (target, met) in targets.iter_mut().zip(met) {
        // SOUND: only a complete meeting stands for the target; otherwise both are looked for.
        let mut found = match met {
            Some((_, true)) => BTreeSet::new(),
            _ => places(target).into_iter().map(|(f, i)| (bodies.of(f), i)).collect(),
        };
        found.extend(met.map(|(at, _)| at));
        target.locations = match (&target.locations, found.first()) {
            (TargetLocations::Failing(..), Some(&(f, i))) => TargetLocations::Failing(f, i),
            _ => TargetLocations::At(found),
        };
    }
    notes
}

fn places(target: &Target) -> BTreeSet<(FuncId, InstId)> {
    match &target.locations {
        TargetLocations::At(all) => all.clone(),
        TargetLocations::Failing(f, i) => BTreeSet::from([(*f, *i)]),
    }
}

fn first(target: &Target) -> FuncId {
    places(target).first().map_or(FuncId::new(0), |p| p.0)
}

/// The meeting of a target, and the function that it stands in front of.
fn one(
    program: &Program,
    entry: Option<FuncId>,
    target: &Target,
    bodies: &Bodies,
    config: &Config,
) -> Result<(pleach_backward::Meeting, FuncId), String> {
    let all = places(target);
    let functions: BTreeSet<FuncId> = all.iter().map(|p| p.0).collect();
    let f = first(target);
    match () {
        () if matches!(target.locations, TargetLocations::Failing(..)) => return Err("a call has to fail".into()),
        () if functions.len() != 1 => return Err("it is in several functions".into()),
        () if Some(f) == entry => return Err("it is in the function where execution begins".into()),
        () => {}
    }
    let body = bodies.of(f);
    let goals = all.iter().map(|(_, i)| Goal::At(body, *i)).collect();
    Ok((meet(program, body, &goals, target.span, config)?, body))
}
