//! From what was seen to one word.

use crate::property::Goal;
use pleach_state::Assumption;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// No execution violates the property.
    Safe,
    /// None does under the assumptions that are said.
    SafeAssuming,
    /// One does, and here it is.
    Unsafe,
    Unknown,
}

impl Answer {
    pub fn as_str(self) -> &'static str {
        match self {
            Answer::Safe => "safe",
            Answer::SafeAssuming => "safe-assuming",
            Answer::Unsafe => "unsafe",
            Answer::Unknown => "unknown",
        }
    }
}

/// What an exploration found out, in sentences where people are meant.
#[derive(Clone, Debug, Default)]
pub struct VerificationEvidence {
    /// A violation that counts, with the goal it violates.
    pub violation: Option<Option<Goal>>,
    /// Violations that the native program did not show.
    pub unconfirmed: Vec<String>,
    /// Ends in behaviour that is not defined and that the property does not cover.
    pub undefined: Vec<String>,
    /// Everything that was only partially explored.
    pub cuts: Vec<String>,
    /// The exploration came to its own end.
    pub finished: bool,
    /// Its assumptions about the program's environment.
    pub assumptions: Vec<Assumption>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verdict {
    pub answer: Answer,
    pub goal: Option<Goal>,
    /// Why it is not known, or under which assumptions it is safe.
    pub reasons: Vec<String>,
    /// SV-COMP's rules make all of these assumptions too.
    in_svcomp: bool,
}

impl Verdict {
    /// SOUND: safe needs that every path was followed, or covered by one that was, to an end that the language defines.
    pub fn of(found: VerificationEvidence) -> Verdict {
        if let Some(goal) = found.violation {
            return Verdict { answer: Answer::Unsafe, goal, reasons: Vec::new(), in_svcomp: true };
        }
        let VerificationEvidence { unconfirmed, undefined, cuts, finished, assumptions, .. } = found;
        let mut reasons: Vec<String> = [unconfirmed, undefined, cuts].into_iter().flatten().collect();
        if reasons.is_empty() && !finished {
            reasons.push("the engine stopped on an internal error".into());
        }
        let answer = match (reasons.is_empty(), assumptions.is_empty()) {
            (true, true) => Answer::Safe,
            (true, false) => Answer::SafeAssuming,
            (false, _) => Answer::Unknown,
        };
        if answer == Answer::SafeAssuming {
            reasons.extend(assumptions.iter().map(|a| format!("assuming that {}", a.clause())));
        }
        let in_svcomp = assumptions.iter().all(is_rule_of_svcomp);
        Verdict { answer, goal: None, reasons, in_svcomp }
    }

    /// The line that SV-COMP's tools look for.
    pub fn svcomp(&self) -> String {
        match (self.answer, self.goal) {
            (Answer::Safe, _) => "true".into(),
            (Answer::SafeAssuming, _) if self.in_svcomp => "true".into(),
            (Answer::Unsafe, Some(goal)) => format!("false({})", goal.as_str()),
            (Answer::Unsafe, None) => "false".into(),
            (Answer::SafeAssuming | Answer::Unknown, _) => "unknown".into(),
        }
    }
}

/// `init(main())`: `main` is called without arguments. `malloc` does not return null, and the stack has no end.
fn is_rule_of_svcomp(assumption: &Assumption) -> bool {
    match assumption {
        Assumption::Arguments(args) => args.is_empty(),
        Assumption::Allocation { .. } | Assumption::Stack(_) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn safe_needs_that_nothing_is_missing() {
        let all = || VerificationEvidence { finished: true, ..VerificationEvidence::default() };
        let word = |f| Verdict::of(f).svcomp();
        assert_eq!(word(all()), "true");
        assert_eq!(word(VerificationEvidence::default()), "unknown");
        assert_eq!(word(VerificationEvidence { cuts: vec!["x".into()], ..all() }), "unknown");
        let under = |a: Vec<Assumption>| Verdict::of(VerificationEvidence { assumptions: a, ..all() });
        let (none, some) = (Assumption::Arguments(Vec::new()), Assumption::FuzzSize(8));
        assert_eq!(under(vec![none.clone()]).answer, Answer::SafeAssuming);
        assert_eq!(under(vec![none.clone()]).svcomp(), "true");
        assert_eq!(under(vec![none, some.clone()]).svcomp(), "unknown");
        let found = VerificationEvidence { violation: Some(None), assumptions: vec![some], ..all() };
        assert_eq!(word(found), "false");
        assert_eq!(word(VerificationEvidence { undefined: vec!["x".into()], ..all() }), "unknown");
        assert_eq!(word(VerificationEvidence { unconfirmed: vec!["x".into()], ..all() }), "unknown");
        let found = VerificationEvidence { violation: Some(Some(Goal::ValidFree)), cuts: vec!["x".into()], ..all() };
        assert_eq!(word(found), "false(valid-free)");
        assert_eq!(word(VerificationEvidence { violation: Some(None), ..all() }), "false");
    }
}
