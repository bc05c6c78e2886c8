//! Words that repeat.
//!
//! *Paper*: Memory §6.2.1. *Idea*: the shortest word is `ω1 ω3`, the next one `ω1 ω2 ω3`; the others are compared with
//! what follows from these two. *Direction*: the work is bounded; what is not found is merged through the tree.

use super::synthesis::{self, formula};
use super::{MAX_GAPS, NoPattern, Pattern};
use pleach_expr::{TermId, Terms};
use pleach_state::seams::PathOracle;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A constraint without its numerals, in all its readings.
type Letter = SmallVec<[u64; 3]>;

/// Comparisons of letters for one group.
const MAX_WORK: usize = 4_000_000;
/// Longer words that are tried together with a shortest one.
const MAX_PARTNERS: usize = 16;
/// Repetitions of words beginning with one word that are tried: without numerals, a round that compares one byte with
/// two numbers looks like two rounds.
const MAX_ATTEMPTS: usize = 8;
/// First rounds that may differ from the others.
const MAX_SHIFTS: usize = 2;

/// Whether the path constraint of a member implies a condition.
type Entails<'a> = &'a dyn Fn(&mut dyn PathOracle, usize, TermId) -> bool;

/// Letters of constraints, found once.
#[derive(Default)]
pub(crate) struct Words(FxHashMap<TermId, Letter>);

/// `ω1 ω2^k ω3`: where ω2 begins in the longest word, its length, and the members with their k.
#[derive(Clone, Debug)]
struct Regular {
    start: usize,
    len: usize,
    members: Vec<(usize, u64)>,
}

/// What was found in a group.
pub(crate) struct Found {
    pub patterns: Vec<Pattern>,
    pub rest: Vec<usize>,
    pub refused: Vec<NoPattern>,
}

impl Words {
    fn of(&mut self, terms: &mut Terms, constraints: &[TermId]) -> Vec<Letter> {
        let letter = |c: &TermId| self.0.entry(*c).or_insert_with(|| synthesis::shapes(terms, *c)).clone();
        constraints.iter().map(letter).collect()
    }

    /// Patterns of members by their further constraints, at most this many; who is in none.
    pub fn patterns(
        &mut self,
        suffixes: &[Vec<TermId>],
        most: usize,
        logic: &mut dyn PathOracle,
        entails: Entails,
    ) -> Found {
        let words: Vec<Vec<Letter>> = suffixes.iter().map(|s| self.of(logic.terms(), s)).collect();
        let mut search = Search { words: &words, work: 0 };
        let mut left: Vec<usize> = (0..words.len()).collect();
        left.sort_by_key(|m| words[*m].len());
        let mut found = Found { patterns: Vec::new(), rest: Vec::new(), refused: Vec::new() };
        while left.len() >= 3 {
            let mut refused = None;
            let made = search.repetition(&left, |regular| match synthesise(logic.terms(), suffixes, regular) {
                Ok(pattern) => Some(pattern),
                Err(why) => {
                    refused.get_or_insert(why);
                    None
                }
            });
            match made {
                Some(mut pattern) => {
                    left.retain(|m| pattern.members.iter().all(|p| p.0 != *m));
                    for m in left.iter().chain(&found.rest) {
                        add_straggler(&mut pattern, *m, &suffixes[*m], logic, entails);
                    }
                    found.rest.retain(|m| pattern.members.iter().all(|p| p.0 != *m));
                    left.retain(|m| pattern.members.iter().all(|p| p.0 != *m));
                    found.patterns.push(pattern);
                }
                // Nothing begins with the shortest one.
                None => {
                    found.refused.extend(refused);
                    found.rest.push(left.remove(0));
                }
            }
            if found.patterns.len() > most {
                found.refused.push(NoPattern::TooMany);
                found.patterns.clear();
                found.rest = (0..words.len()).collect();
                return found;
            }
        }
        found.rest.append(&mut left);
        found.rest.sort_unstable();
        if found.patterns.is_empty() && found.refused.is_empty() && words.len() >= 3 {
            found.refused.push(NoPattern::NoRepetition);
        }
        found
    }
}

struct Search<'a> {
    words: &'a [Vec<Letter>],
    work: usize,
}

impl Search<'_> {
    fn same(&mut self, a: &[Letter], b: &[Letter]) -> bool {
        self.work += a.len().min(b.len());
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.iter().any(|h| b.contains(h)))
    }

    /// The first repetition that makes a pattern and begins with the first of these, which come in the order of their
    /// lengths.
    fn repetition(&mut self, left: &[usize], mut make: impl FnMut(Regular) -> Option<Pattern>) -> Option<Pattern> {
        let words = self.words;
        let shortest = &words[*left.first()?];
        let (mut tried, mut attempts) = (0, 0);
        let first_longer = left.iter().position(|m| words[*m].len() > shortest.len())?;
        for m in &left[first_longer..] {
            let longer = &words[*m];
            tried += 1;
            if tried > MAX_PARTNERS || attempts >= MAX_ATTEMPTS || self.work > MAX_WORK {
                return None;
            }
            let len = longer.len() - shortest.len();
            for start in 0..=shortest.len() {
                if start > 0 && !self.same(&shortest[start - 1..start], &longer[start - 1..start]) {
                    break;
                }
                if !self.same(&longer[start + len..], &shortest[start..]) {
                    continue;
                }
                let period = &longer[start..start + len];
                let members = self.members(&left[first_longer..], left[0], start, period);
                if members.iter().any(|m| m.1 == 2) {
                    attempts += 1;
                    if let Some(made) = make(Regular { start, len, members }) {
                        return Some(made);
                    }
                }
            }
        }
        None
    }

    /// Who has the word `ω1 ω2^k ω3`, fewest rounds first.
    fn members(&mut self, longer: &[usize], first: usize, start: usize, period: &[Letter]) -> Vec<(usize, u64)> {
        let words = self.words;
        let shortest = &words[first];
        let mut found = vec![(first, 0)];
        for m in longer {
            let word = &words[*m];
            let more = word.len() - shortest.len();
            if more == 0 || !more.is_multiple_of(period.len()) {
                continue;
            }
            let matches = self.same(&word[..start], &shortest[..start])
                && self.same(&word[start + more..], &shortest[start..])
                && word[start..start + more].chunks(period.len()).all(|round| self.same(round, period));
            if matches {
                found.push((*m, (more / period.len()) as u64));
            }
        }
        found
    }
}

/// The formulas of a repetition, with those members whose constraints are their instances.
fn synthesise(terms: &mut Terms, suffixes: &[Vec<TermId>], mut regular: Regular) -> Result<Pattern, NoPattern> {
    let x = terms.variable_to_bind(super::COUNTER_BITS);
    for shifts in 0..=MAX_SHIFTS {
        keep_prefixes_of_longest(suffixes, &mut regular);
        // Two rounds are always linear: if the first did not fit, three others have to.
        let least = if shifts == 0 { 2 } else { 3 };
        if regular.members.len() < 3 || regular.members.last().is_none_or(|m| m.1 < least) {
            return Err(if shifts == 0 { NoPattern::FewMembers } else { NoPattern::Rounds });
        }
        match rounds(terms, x, suffixes, &regular) {
            Some(round) => return exits(terms, x, suffixes, regular, round),
            // The first round may be special: it becomes a part of ω1.
            None => {
                regular.start += regular.len;
                regular.members.retain(|m| m.1 > 0);
                regular.members.iter_mut().for_each(|m| m.1 -= 1);
            }
        }
    }
    Err(NoPattern::Rounds)
}

/// Those who went along the path of the one with the most rounds; one for each number of rounds.
fn keep_prefixes_of_longest(suffixes: &[Vec<TermId>], regular: &mut Regular) {
    let Some(&(longest, _)) = regular.members.last() else { return };
    let Regular { start, len, .. } = *regular;
    let path = &suffixes[longest];
    let end = |k: u64| start + len * k as usize;
    regular.members.retain(|&(m, k)| suffixes[m].get(..end(k)) == path.get(..end(k)));
    regular.members.dedup_by_key(|m| m.1);
}

/// φ2, constraint by constraint.
fn rounds(terms: &mut Terms, x: TermId, suffixes: &[Vec<TermId>], regular: &Regular) -> Option<Vec<TermId>> {
    let &(longest, most) = regular.members.last()?;
    let path = &suffixes[longest];
    let mut all = Vec::with_capacity(regular.len);
    for i in 0..regular.len {
        let at = |round: u64| (round, path[regular.start + regular.len * round as usize + i]);
        let instances: Vec<(u64, TermId)> = (0..most).map(at).collect();
        all.push(formula(terms, x, &instances)?);
    }
    Some(all)
}

/// φ3, and the members whose constraints are instances of it.
fn exits(
    terms: &mut Terms,
    x: TermId,
    suffixes: &[Vec<TermId>],
    regular: Regular,
    round: Vec<TermId>,
) -> Result<Pattern, NoPattern> {
    let Regular { start, len, mut members } = regular;
    let &(longest, most) = members.last().ok_or(NoPattern::FewMembers)?;
    let first = suffixes[longest][..start].to_vec();
    let behind = |m: usize, k: u64| suffixes[m].get(start + len * k as usize..).unwrap_or_default();
    let count = behind(longest, most).len();
    let mut exit = Vec::with_capacity(count);
    for i in 0..count {
        let instances: Option<Vec<(u64, TermId)>> =
            members.iter().map(|&(m, k)| Some((k, *behind(m, k).get(i)?))).collect();
        let instances = instances.ok_or(NoPattern::Exit)?;
        let formula = synthesis::candidate(terms, x, &instances).ok_or(NoPattern::Exit)?;
        exit.push(formula);
    }
    members.retain(|&(m, k)| {
        let own = behind(m, k);
        own.len() == count && own.iter().zip(&exit).all(|(c, f)| terms.instance(x, *f, k) == *c)
    });
    let last = members.last().map_or(0, |m| m.1);
    if members.len() < 3 || last < 2 {
        return Err(NoPattern::Exit);
    }
    if last as usize + 1 - members.len() > MAX_GAPS {
        return Err(NoPattern::Gaps);
    }
    Ok(Pattern { first, round, exit, x, members })
}

/// Adds a member that lacks constraints of φ3 because its path constraint implies them: the last round that a bound
/// allows ends without a branch.
fn add_straggler(
    pattern: &mut Pattern,
    member: usize,
    suffix: &[TermId],
    logic: &mut dyn PathOracle,
    entails: Entails,
) -> Option<()> {
    let mut rest = suffix.strip_prefix(&pattern.first[..])?;
    let mut rounds = 0;
    loop {
        let terms = logic.terms();
        let round: Vec<TermId> = pattern.round.iter().map(|f| terms.instance(pattern.x, *f, rounds)).collect();
        // Those of the round that are true whatever the inputs are were no branches.
        let branches: Vec<TermId> = round.into_iter().filter(|c| *c != Terms::TRUE).collect();
        match rest.strip_prefix(&branches[..]) {
            Some(behind) if !branches.is_empty() => rest = behind,
            _ => break,
        }
        rounds += 1;
    }
    let at = match pattern.members.binary_search_by_key(&rounds, |m| m.1) {
        Ok(_) => return None,
        Err(at) => at,
    };
    for f in pattern.exit.clone() {
        let c = logic.terms().instance(pattern.x, f, rounds);
        if rest.first() == Some(&c) {
            rest = &rest[1..];
        } else if !entails(logic, member, c) {
            return None;
        }
    }
    let last = pattern.members.last().map_or(0, |m| m.1).max(rounds);
    if !rest.is_empty() || last as usize - pattern.members.len() > MAX_GAPS {
        return None;
    }
    // SOUND: the member's constraints and what they imply are the instance of the formulas.
    pattern.members.insert(at, (member, rounds));
    Some(())
}
