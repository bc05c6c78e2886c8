//! Every rewriting rule of the term builder, proved: an instance's left side never differs from its right side.

mod common;
use common::*;
use pleach_expr::parse::Mode;
use pleach_expr::simplify::catalogue::{Rule, catalogue, rules};
use pleach_expr::{Op, TermId, Terms, facts};
use pleach_smt::{Answer, BackendKind, Solver, SolverConfig, assemble};
use std::collections::BTreeSet;
use std::time::Duration;

/// `lhs ≠ rhs`, built without rewriting. Arrays differ if some cell does.
fn difference(terms: &mut Terms, lhs: TermId, rhs: TermId) -> Vec<TermId> {
    let array = matches!(terms.op(lhs), Op::Store | Op::ArrayVar | Op::ArrayConst);
    let [left, right] = [lhs, rhs].map(|t| {
        let text = terms.show(t);
        if array { format!("(read {text} cell:32)") } else { text }
    });
    if let Ok(raw) = terms.parse(&format!("(not (eq {left} {right}))"), Mode::Raw) {
        return vec![raw];
    }
    let width = terms.width(lhs);
    let y = var(terms, "the value", width);
    let (left, right) = (terms.eq(y, lhs), terms.ne(y, rhs));
    sorted(vec![left, right])
}

fn solver(timeout: Duration) -> Box<dyn Solver> {
    let timeout = Some(timeout);
    assemble(SolverConfig { timeout, use_fallback: true, ..SolverConfig::bare(BackendKind::Bitwuzla) })
}

const LONG: Duration = Duration::from_secs(20);
/// For the larger widths, where some products and quotients are out of reach.
const SHORT: Duration = Duration::from_millis(300);

#[test]
fn no_rule_changes_a_value() {
    let mut terms = Terms::new(64);
    let all = catalogue(&mut terms).expect("the catalogue parses");
    let (mut long, mut short) = (solver(LONG), solver(SHORT));
    let mut proved = BTreeSet::new();
    let mut open = BTreeSet::new();
    for rule in &all {
        if terms.has(rule.lhs, facts::HAS_BASE) || terms.has(rule.rhs, facts::HAS_BASE) {
            open.insert(rule.name);
            continue;
        }
        let query = difference(&mut terms, rule.lhs, rule.rhs);
        let s = if rule.width <= 8 { &mut long } else { &mut short };
        match check(&mut **s, &mut terms, &query) {
            Answer::Unsat(_) => {
                proved.insert(rule.name);
            }
            Answer::Sat(m) => {
                let (lhs, rhs) = (terms.show(rule.lhs), terms.show(rule.rhs));
                panic!("rule {}: {lhs} is not {rhs} under {:?}", rule.name, m.entries());
            }
            Answer::Unknown(why) => {
                println!("open: {} at width {}: {why}", rule.name, rule.width);
                open.insert(rule.name);
            }
        }
    }
    for rule in rules().filter(|r| r.matches.contains('@')) {
        proved.extend(with_variables_for_bases(rule).then_some(rule.name));
    }
    let unproved: Vec<_> = open.difference(&proved).collect();
    assert!(unproved.is_empty(), "not proved at any width: {unproved:?}");
}

/// Base addresses are numbers too: the rule must hold for any that an object can have.
fn with_variables_for_bases(rule: &Rule) -> bool {
    let mut terms = Terms::new(64);
    let mut sides = [rule.matches, rule.gives].map(|text| {
        let mut text = text.replace('W', "64").replace('D', "128").replace('H', "32");
        for i in 0..10 {
            text = text.replace(&format!("@{i}"), &format!("base{i}:64"));
        }
        text
    });
    let [lhs, rhs] = sides.each_mut().map(|t| terms.parse(t, Mode::Raw));
    let (Ok(lhs), Ok(rhs)) = (lhs, rhs) else { return false };
    let mut query = difference(&mut terms, lhs, rhs);
    let (first, last) = pleach_expr::base_range(64);
    let (first, last) = (terms.constant(64, first), terms.constant(64, last));
    for i in 0..10 {
        let symbol = terms.symbols.named(&format!("base{i}"), pleach_expr::SymbolKind::Bits(64));
        let base = terms.var(symbol);
        query.extend([terms.ule(first, base), terms.ule(base, last)]);
    }
    check(&mut *solver(LONG), &mut terms, &sorted(query)).is_unsat()
}
