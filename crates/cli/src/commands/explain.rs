//! `pleach explain`: the interpolants of a run.

use crate::args::ExplainArgs;
use pleach_command::{CliError, Code};
use pleach_report::{Interpolant, LoopRecord, NodeStatus, RunDir, Summary, TreeReader};
use serde_json::json;
use std::collections::BTreeMap;

pub fn run(args: ExplainArgs) -> Result<Code, CliError> {
    let dir = RunDir::open(&args.run)?;
    if let Some(at) = &args.r#loop {
        return explain_loop(&args, at, &dir.summary()?.loops);
    }
    let tree = TreeReader::open(&dir.file("tree.bin"))?;
    let kept = dir.interpolants()?;
    if let Some(id) = args.node
        && !tree.nodes.contains_key(&id)
    {
        let last = tree.nodes.keys().next_back().copied().unwrap_or(0);
        return Err(CliError::Usage(format!("the tree has no node {id}; its nodes are 0 to {last}")));
    }
    if args.dot {
        let note = |id: u32| kept.as_ref().and_then(|k| k.get(&id)).map(label).unwrap_or_default();
        print!("{}", tree.to_dot(args.node, &note));
        return Ok(Code::Fine);
    }
    match args.node {
        None => overview(&args, &tree, &dir.summary()?),
        Some(id) => match &kept {
            None => {
                let run = args.run.display();
                return Err(CliError::Usage(format!(
                    "{run} kept no interpolants; run again with --prune --explain-pruning"
                )));
            }
            Some(kept) => node(&args, &tree, kept, id),
        },
    }
    Ok(Code::Fine)
}

/// The invariants of the loops on a line.
fn explain_loop(args: &ExplainArgs, at: &str, loops: &[LoopRecord]) -> Result<Code, CliError> {
    let place = |l: &LoopRecord| format!("{}:{}", l.file, l.line);
    let here: Vec<&LoopRecord> =
        loops.iter().filter(|l| place(l) == at || place(l).ends_with(&format!("/{at}"))).collect();
    if here.is_empty() {
        let known = loops.iter().map(place).collect::<Vec<_>>().join(", ");
        return Err(CliError::Usage(format!("no state came back to a loop at {at}; loops of this run: [{known}]")));
    }
    match args.json {
        true => println!("{}", json!(here)),
        false => here.into_iter().for_each(|l| print!("{}", pleach_session::verdict_text::describe_loop(l))),
    }
    Ok(Code::Fine)
}

fn label(i: &Interpolant) -> Vec<String> {
    match (&i.subsumed_by, &i.no_interpolant) {
        (Some(by), _) => vec![format!("subsumed by {by}")],
        (None, Some(why)) => vec![format!("none: {why}")],
        (None, None) if i.conjuncts.is_empty() => vec!["true".into()],
        (None, None) => i.conjuncts.clone(),
    }
}

fn overview(args: &ExplainArgs, tree: &TreeReader, summary: &Summary) {
    let statistics = &summary.pruning;
    if args.json {
        println!(
            "{}",
            json!({ "nodes": tree.nodes.len(), "pruned": tree.count(NodeStatus::Pruned), "pruning": statistics,
                "merging": summary.merging, "patterns": summary.patterns })
        );
        return;
    }
    print!("{}", pleach_session::explanations::overview(tree, summary, &args.run));
}

fn node(args: &ExplainArgs, tree: &TreeReader, kept: &BTreeMap<u32, Interpolant>, id: u32) {
    let n = &tree.nodes[&id];
    let (parents, children) = (tree.parents(id), tree.children(id));
    let found = kept.get(&id);
    if args.json {
        let status = n.status.as_str();
        println!(
            "{}",
            json!({ "node": id, "status": status, "parent": n.parent, "parents": parents, "children": children,
                "interpolant": found })
        );
        return;
    }
    let place = match found {
        Some(i) => format!(" at {}:{} in {}", i.file, i.line, i.stack.last().map_or("?", String::as_str)),
        None if n.line > 0 => format!(" at {}:{}", tree.file(n), n.line),
        None => String::new(),
    };
    println!("Node {id}{place}: {}.", n.status.as_str());
    if let Some(i) = found.filter(|i| i.stack.len() > 1) {
        println!("  called through {}", i.stack.join(" > "));
    }
    let list = |nodes: &[u32]| nodes.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    match &parents[..] {
        [] => {}
        [p] => println!("  parent {p}"),
        several => println!("  merged from {}", list(several)),
    }
    match (&children[..], n.status) {
        ([], _) => {}
        (into, NodeStatus::Merged) => println!("  merged into {}", list(into)),
        _ => println!("  children {}", list(&children)),
    }
    match found {
        None => println!("  nothing was learned: the node was not complete, or lies before the first fork."),
        Some(Interpolant { no_interpolant: Some(why), .. }) => println!("  no interpolant: {why}."),
        Some(i) => {
            match i.subsumed_by {
                Some(by) => println!("  subsumed by node {by}; in terms of this node that needs"),
                None => println!("  interpolant: subsumes every state here that satisfies"),
            }
            if i.conjuncts.is_empty() {
                println!("    true");
            }
            i.conjuncts.iter().for_each(|c| println!("    {c}"));
        }
    }
}
