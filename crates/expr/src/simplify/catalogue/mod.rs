//! An instance of every rewriting rule, so that tests can check each: by evaluation here, by the solver elsewhere.
//!
//! The texts are in the form of [`crate::print`]. In them `W` stands for a width, `D` for twice and `H` for half of it;
//! such an instance is stated for several widths.

mod arith;
mod condition;
mod order;
mod word;

use crate::parse::{Mode, ParseError};
use crate::term::{TermId, Terms};

/// What a rule matches and what it gives, by example.
pub struct Rule {
    pub name: &'static str,
    pub matches: &'static str,
    pub gives: &'static str,
}

/// The same as terms of one table.
#[derive(Clone, Copy, Debug)]
pub struct RuleInstance {
    pub name: &'static str,
    /// the width `W` stands for
    pub width: u16,
    /// built without rewriting
    pub lhs: TermId,
    /// the builder's result for the operator of `lhs` on the arguments of `lhs`
    pub rhs: TermId,
    /// what the rule states, built by the builder; the same term as `rhs`
    pub stated: TermId,
}

/// All instances, a rule's next to each other.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    [arith::RULES, word::RULES, condition::RULES, order::RULES].into_iter().flatten()
}

const WIDTHS: [u16; 4] = [8, 32, 64, 128];

/// All instances at all their widths, as terms.
///
/// # Errors
/// A text of the catalogue that does not parse; the tests rule it out.
pub fn catalogue(terms: &mut Terms) -> Result<Vec<RuleInstance>, ParseError> {
    let mut all = Vec::new();
    for rule in rules() {
        let open = rule.matches.contains(['W', 'D', 'H']) || rule.gives.contains(['W', 'D', 'H']);
        for &width in if open { &WIDTHS[..] } else { &WIDTHS[..1] } {
            let text = |s: &str| {
                s.replace('W', &width.to_string())
                    .replace('D', &(width * 2).to_string())
                    .replace('H', &(width / 2).to_string())
            };
            let lhs = terms.parse(&text(rule.matches), Mode::Raw)?;
            let stated = terms.parse(&text(rule.gives), Mode::Rewritten)?;
            let args = terms.args(lhs);
            let rhs = terms.rebuild(terms.node(lhs), &args);
            all.push(RuleInstance { name: rule.name, width, lhs, rhs, stated });
        }
    }
    Ok(all)
}
