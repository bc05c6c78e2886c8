//! What the pointers among the parameters of an entry function point to: one initial state for each combination.
//!
//! A pointer that nothing is said about is null, or points to one element or to several; `--param` says more. What is
//! left out (other sizes, objects that two parameters share) is assumed, and every answer names it.

use crate::config::{ParameterSpec, Pointee, SetupError, Size};
use crate::machine::Machine;
use pleach_ir::types::DebugType;
use pleach_ir::{Param, Ty, TypeId};
use pleach_state::Assumption;

/// At most this many combinations; parameters beyond get fewer choices.
const MAX_STATES: usize = 64;
/// Elements of scalars that a pointer may point to if nothing is said.
const SEVERAL: u64 = 8;

/// What one parameter is in one initial state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Choice {
    /// no pointer: a symbolic value
    Value,
    Null,
    Object {
        bytes: u64,
        /// the last byte is zero
        terminated: bool,
        /// this parameter has this value: how many elements there are
        counted: Option<(usize, u64)>,
    },
    /// one object of symbolic size: as many elements as the parameter `by` says, at least one
    UpTo {
        element: u64,
        most: u64,
        by: usize,
    },
}

impl Choice {
    /// A parameter that counts elements, with the least and the largest count.
    fn count(&self) -> Option<(usize, u64, u64)> {
        match *self {
            Choice::Object { counted: Some((by, n)), .. } => Some((by, n, n)),
            Choice::UpTo { by, most, .. } => Some((by, 1, most)),
            _ => None,
        }
    }
}

impl Machine {
    /// The combinations to explore, those with the largest objects first.
    pub(crate) fn parameter_choices(&mut self, params: &[Param]) -> Result<Vec<Vec<Choice>>, SetupError> {
        let known: Vec<String> = (0..params.len()).map(|i| name(params, i)).collect();
        for spec in &self.config.parameters {
            let wrong = |why: &str| Err(SetupError::Parameter { name: spec.name.clone(), why: why.to_owned() });
            match known.iter().position(|n| *n == spec.name) {
                None => return wrong(&format!("the entry has no such parameter; it has {}", known.join(", "))),
                Some(i) if !is_pointer(&params[i]) => return wrong("it is no pointer"),
                Some(_) => {}
            }
            if let Some(by) = spec.pointee.counted_by()
                && !known.iter().zip(params).any(|(n, p)| n == by && matches!(p.ty, Ty::Int(_)))
            {
                return wrong(&format!("the entry has no integer parameter `{by}`"));
            }
        }
        let mut all = vec![Vec::new()];
        for (i, p) in params.iter().enumerate() {
            let mut choices = vec![Choice::Value];
            if is_pointer(p) {
                choices = self.choices_of(params, i);
                choices.truncate((MAX_STATES / all.len()).max(1));
                let clause = self.clause(&known[i], &choices);
                self.assume_of_run(Assumption::Parameter(clause));
            }
            all = all
                .into_iter()
                .flat_map(|before: Vec<Choice>| {
                    choices.iter().map(move |c| before.iter().copied().chain([*c]).collect())
                })
                .collect();
        }
        all.retain(|combination| is_consistent(combination));
        Ok(all)
    }

    fn choices_of(&self, params: &[Param], i: usize) -> Vec<Choice> {
        let pointee = params[i].debug_type.and_then(|t| self.pointee(t));
        let element = pointee.and_then(|t| self.size_of_type(t)).filter(|n| *n > 0).unwrap_or(1);
        let object = |bytes| Choice::Object { bytes, terminated: false, counted: None };
        let position = |by: &str| (0..params.len()).find(|k| name(params, *k) == by);
        let counted = |n: u64, of: u64, by: &str| {
            let counted = position(by).map(|k| (k, n));
            Choice::Object { bytes: n.saturating_mul(of), terminated: false, counted }
        };
        // Given inputs have one size.
        let together = self.config.sizes.one_state && self.config.inputs.is_none();
        let sized = |size: &Size, of: u64| match size {
            Size::Exactly(n) => vec![object(n.saturating_mul(of))],
            Size::Counted { by, most } => match position(by) {
                Some(k) if together && *most > 1 => {
                    vec![Choice::UpTo { element: of, most: *most, by: k }, counted(0, of, by)]
                }
                _ => (0..=*most).rev().map(|n| counted(n, of, by)).collect(),
            },
        };
        let own = name(params, i);
        let Some(ParameterSpec { pointee, nullable, .. }) = self.config.parameters.iter().find(|s| s.name == own)
        else {
            let several = pointee.is_none_or(|t| !self.is_aggregate(t)).then(|| object(SEVERAL * element));
            return several.into_iter().chain([object(element), Choice::Null]).collect();
        };
        let mut choices = match pointee {
            Pointee::Null => vec![Choice::Null],
            Pointee::Elements(size) => sized(size, element),
            Pointee::Bytes(size) => sized(size, 1),
            Pointee::String(n) => {
                vec![Choice::Object { bytes: n.saturating_add(1), terminated: true, counted: None }]
            }
        };
        if *nullable && !choices.contains(&Choice::Null) {
            choices.push(Choice::Null);
        }
        choices
    }

    /// A human-readable clause about one parameter.
    fn clause(&self, name: &str, choices: &[Choice]) -> String {
        let size = |c: &Choice| match c {
            Choice::Object { bytes, .. } => Some(*bytes),
            Choice::UpTo { element, most, .. } => Some(element.saturating_mul(*most)),
            Choice::Value | Choice::Null => None,
        };
        let mut sizes: Vec<u64> = choices.iter().filter_map(size).collect();
        sizes.sort_unstable();
        let null = choices.contains(&Choice::Null);
        let terminated = choices.iter().any(|c| matches!(c, Choice::Object { terminated: true, .. }));
        let counted = choices.iter().any(|c| c.count().is_some());
        let objects = match sizes[..] {
            [] => return format!("`{name}` is null"),
            [.., n] if terminated => format!("a string of up to {} characters", n - 1),
            [.., n] if counted => format!("as many bytes as its count says, at most {n}"),
            [1] => "an object of 1 byte".to_owned(),
            [n] => format!("an object of {n} bytes"),
            [a, b] => format!("an object of {a} or {b} bytes"),
            [a, .., b] => format!("an object of {a} to {b} bytes"),
        };
        let null = if null { "is null or" } else { "is not null and" };
        format!("`{name}` {null} points to {objects}, to the start of it, and no other parameter does (--param)")
    }

    pub(crate) fn is_aggregate(&self, ty: TypeId) -> bool {
        match &self.program.types[ty.index()] {
            DebugType::Struct { .. } | DebugType::Union { .. } | DebugType::Array { .. } => true,
            DebugType::Named { of: Some(of), .. } => self.is_aggregate(*of),
            _ => false,
        }
    }
}

/// One count has one value.
fn is_consistent(combination: &[Choice]) -> bool {
    let counts: Vec<_> = combination.iter().filter_map(Choice::count).collect();
    counts.iter().all(|a| counts.iter().all(|b| a.0 != b.0 || (a.1 <= b.2 && b.1 <= a.2)))
}

fn is_pointer(p: &Param) -> bool {
    matches!(p.ty, Ty::Ptr) && p.byval.is_none()
}

/// A parameter's name, also that of its input.
pub(crate) fn name(params: &[Param], i: usize) -> String {
    params[i].name.clone().unwrap_or_else(|| format!("arg{i}"))
}
