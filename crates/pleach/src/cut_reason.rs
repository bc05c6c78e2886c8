//! Cuts, assumptions and path counts as the report has them.

use crate::number_format::count;
use pleach_explore::Counters;
use pleach_report::{Assumption as Assumed, Cut as CutRecord, Paths};
use pleach_state::{Assumption, Cut};
use std::collections::BTreeMap;

/// A cut as a short key, as exact text, and as a human-readable sentence.
pub struct Reason {
    /// as in `summary.json`
    pub name: &'static str,
    pub detail: String,
    sentence: &'static str,
    /// what to do next, if something can be done
    next: &'static str,
}

impl Reason {
    pub fn describe(&self) -> String {
        match self.detail.as_str() {
            "" => self.sentence.to_owned(),
            detail => format!("{}: {detail}", self.sentence),
        }
    }

    /// The detail in front of its place, and the place.
    fn without_place(&self) -> Option<(&str, &str)> {
        self.detail.rsplit_once(" at ").filter(|(_, place)| place.contains(':') && place.contains(" in `"))
    }

    /// How many paths it cut, and what to do next.
    pub fn account(&self, paths: u64) -> String {
        let verb = if paths == 1 { "was" } else { "were" };
        let next = if self.next.is_empty() { String::new() } else { format!(" ({})", self.next) };
        format!("{}; {} {verb} not explored to the end{next}", self.describe(), count(paths, "path"))
    }
}

pub fn reason(cut: &Cut) -> Reason {
    let limit = |name, sentence| Reason { name, detail: String::new(), sentence, next: "raise it, or 0 for none" };
    let with = |name, sentence, detail: &String, next| Reason { name, detail: detail.clone(), sentence, next };
    match cut {
        Cut::Unsupported(what) => {
            with("unsupported", "not supported yet", what, "docs/soundness.md says what is; leave it out of the build")
        }
        Cut::External(what) => {
            let next = match what.as_str() {
                name if name.starts_with("pthread_") || name.starts_with("thrd_") => {
                    "threads are not modelled; --external=havoc takes its result for unknown"
                }
                name if name.starts_with("std::thread") => {
                    "threads are not modelled; explore what it does from a function of its own (--entry)"
                }
                name if name.starts_with("_ZNSt") || name.starts_with("_ZSt") => {
                    "the C++ library's compiled part is not there; --external=havoc takes its result for unknown"
                }
                name if name.starts_with("_RN") || name.starts_with("_ZN4core") || name.starts_with("_ZN3std") => {
                    "Rust's compiled library is not there; start at a function that needs none of it (--entry)"
                }
                _ => "add the file that defines it or its header, or --external=havoc",
            };
            with("external-call", "call of a function without a body", what, next)
        }
        Cut::Solver(what) => {
            with("solver", "the solver returned unknown", what, "--max-solver-time gives it more time, or --solver=z3")
        }
        Cut::Concretized(what) => {
            let next = match what.ends_with("(--capacity)") {
                true => "raise it, or bound the size by an assumption",
                false => "",
            };
            with("concretized", "a value was concretised (other values not explored)", what, next)
        }
        Cut::Time => limit("max-time", "the time limit (--max-time) was reached"),
        Cut::Processor => limit("cpu-time", "the limit on processor time (ulimit -t) was reached"),
        Cut::Memory => limit("max-memory", "the memory limit (--max-memory) was reached"),
        Cut::Instructions => limit("max-instructions", "the instruction limit (--max-instructions) was reached"),
        Cut::Forks => limit("max-forks", "the fork limit (--max-forks) was reached"),
        Cut::Depth => limit("max-depth", "the depth limit (--max-depth) was reached"),
        Cut::Tests => limit("max-tests", "the test limit (--max-tests) was reached"),
        Cut::Unwind(n) => Reason {
            name: "unwind",
            detail: n.to_string(),
            sentence: "a loop or a recursion went on beyond the bound (--unwind)",
            next: "raise it, or leave it out",
        },
        Cut::Interrupted => Reason { next: "", ..limit("interrupted", "the run was interrupted") },
        Cut::Stopped(why) => with("stopped", "the run was stopped", why, ""),
    }
}

/// A sentence per reason, with how many paths it cut. Reasons that differ only in their place share one, if they are
/// more than a few.
pub fn accounts(cuts: &BTreeMap<Cut, u64>) -> Vec<String> {
    const FEW: usize = 3;
    let reasons: Vec<(Reason, u64)> = cuts.iter().map(|(cut, n)| (reason(cut), *n)).collect();
    let mut told = Vec::new();
    let mut out = Vec::new();
    for (r, n) in &reasons {
        let key = r.without_place().map(|(what, _)| (r.name, what));
        let alike: Vec<_> = reasons
            .iter()
            .filter(|(other, _)| key.is_some() && other.without_place().map(|(what, _)| (other.name, what)) == key)
            .collect();
        if alike.len() <= FEW {
            out.push(r.account(*n));
        } else if !told.contains(&key) {
            told.push(key);
            let most = alike.iter().max_by_key(|(_, n)| *n).and_then(|(r, _)| r.without_place());
            let (what, place) = most.unwrap_or_default();
            let places = count(alike.len() as u64, "place");
            let detail = format!("{what} at {places}, most often at {place}");
            let all = Reason { detail, ..*r };
            out.push(all.account(alike.iter().map(|(_, n)| n).sum()));
        }
    }
    out
}

/// Sentences that end in what is missing in the environment, those about one kind of thing in one.
pub fn together(sentences: &[String]) -> Vec<String> {
    // one of them, several, and how both end
    const KINDS: [(&str, &str, &str, &str); 2] = [
        ("the environment variable `", "the environment variables ", "` is not set", " are not set"),
        ("the file `", "the files ", "` does not exist", " do not exist"),
    ];
    let mut out: Vec<String> = Vec::new();
    let mut told = Vec::new();
    for sentence in sentences {
        let kind = KINDS.iter().find(|k| sentence.contains(k.0) && sentence.ends_with(k.2));
        let Some(k @ (one, several, ends, end)) = kind else {
            out.push(sentence.clone());
            continue;
        };
        if told.contains(&k) {
            continue;
        }
        told.push(k);
        let named = |s: &String| s.strip_suffix(ends).and_then(|s| Some(s.split_once(one)?.1.to_owned()));
        let names: Vec<String> = sentences.iter().filter_map(named).collect();
        let before = sentence.split(one).next().unwrap_or_default();
        match &names[..] {
            [.., last] if names.len() > 1 => {
                let first = names[..names.len() - 1].join("`, `");
                out.push(format!("{before}{several}`{first}` and `{last}`{end}"));
            }
            _ => out.push(sentence.clone()),
        }
    }
    out
}

/// A line that names topics of `docs/when.md`, each once; nothing if there are none.
pub fn what_to_do<'a>(topics: impl IntoIterator<Item = &'a str>) -> String {
    let mut all: Vec<&str> = Vec::new();
    for topic in topics {
        if !all.contains(&topic) {
            all.push(topic);
        }
    }
    if all.is_empty() { String::new() } else { format!("What to do: pleach when {}\n", all.join(" ")) }
}

pub fn paths(c: &Counters) -> Paths {
    Paths { completed: c.completed, errored: c.errored, cut: c.cut, pruned: c.pruned, merged: c.merged }
}

pub fn cuts(c: &Counters) -> Vec<CutRecord> {
    let entry = |(cut, count): (&Cut, &u64)| {
        let r = reason(cut);
        CutRecord { reason: r.name.into(), count: *count, detail: r.detail }
    };
    c.cuts.iter().map(entry).collect()
}

pub fn assumptions(all: &[Assumption]) -> Vec<Assumed> {
    all.iter().map(|a| Assumed { kind: a.name().into(), clause: a.clause() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_places_are_one_reason() {
        let at = |line: u32| Cut::Solver(format!("no answer at a.c:{line} in `f`"));
        let few: BTreeMap<Cut, u64> = (1..=3).map(|line| (at(line), 1)).collect();
        assert_eq!(accounts(&few).len(), 3);
        let mut many: BTreeMap<Cut, u64> = (1..=5).map(|line| (at(line), u64::from(line))).collect();
        many.insert(Cut::Time, 7);
        many.insert(Cut::External("f".into()), 1);
        let told = accounts(&many);
        assert_eq!(told.len(), 3, "{told:?}");
        let solver = told.iter().find(|t| t.starts_with("the solver")).expect("one line for all");
        assert!(solver.contains(": no answer at 5 places, most often at a.c:5 in `f`; 15 paths were not"), "{solver}");
    }

    #[test]
    fn what_is_missing_is_one_sentence() {
        let all = [
            "x",
            "the environment variable `A` is not set",
            "the environment variable `B` is not set",
            "the file `f` does not exist",
        ];
        let told = together(&all.map(|s| format!("assuming that {s}")));
        assert_eq!(
            told,
            [
                "assuming that x",
                "assuming that the environment variables `A` and `B` are not set",
                "assuming that the file `f` does not exist"
            ]
        );
    }
}
