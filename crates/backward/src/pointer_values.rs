//! What is known of a pointer: its groups, and its offset up to a multiple.

use crate::graph::FrameId;
use crate::pointers::GroupId;
use pleach_ir::Slot;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// `r` modulo `m`; exactly `r` if `m` is 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Offset {
    pub m: u64,
    pub r: i64,
}

impl Offset {
    pub fn known(r: i64) -> Offset {
        Offset { m: 0, r }
    }
    pub fn as_known(self) -> Option<i64> {
        (self.m == 0).then_some(self.r)
    }
    pub(crate) fn modulo(m: u64, r: i64) -> Offset {
        if m == 0 { Offset { m, r } } else { Offset { m, r: (i128::from(r).rem_euclid(i128::from(m))) as i64 } }
    }
    pub(crate) fn join(self, other: Offset) -> Offset {
        let m = gcd(gcd(self.m, other.m), self.r.abs_diff(other.r));
        Offset::modulo(m, self.r)
    }
    pub(crate) fn plus(self, other: Offset) -> Offset {
        Offset::modulo(gcd(self.m, other.m), self.r.wrapping_add(other.r))
    }
}

/// Whether the first one changed.
pub(crate) fn join_states(old: &mut State, new: State) -> bool {
    if old.is_empty() {
        *old = new;
        return !old.is_empty();
    }
    let mut changed = false;
    for (k, v) in new {
        match old.entry(k) {
            std::collections::hash_map::Entry::Occupied(mut old) => changed |= old.get_mut().join(&v),
            std::collections::hash_map::Entry::Vacant(free) => {
                free.insert(v);
                changed = true;
            }
        }
    }
    changed
}

pub fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pointer {
    /// `None` while no value is known to arrive
    pub offset: Option<Offset>,
    pub groups: BTreeSet<GroupId>,
    /// may also be something that is not modelled
    pub unknown: bool,
    /// may also never have been written
    pub undefined: bool,
}

impl Pointer {
    pub(crate) fn null() -> Pointer {
        Pointer { offset: Some(Offset::known(0)), groups: BTreeSet::new(), unknown: false, undefined: false }
    }
    pub(crate) fn to(group: GroupId, offset: i64) -> Pointer {
        Pointer {
            offset: Some(Offset::known(offset)),
            groups: BTreeSet::from([group]),
            unknown: false,
            undefined: false,
        }
    }
    pub(crate) fn unknown() -> Pointer {
        Pointer { offset: Some(Offset { m: 1, r: 0 }), groups: BTreeSet::new(), unknown: true, undefined: false }
    }
    pub(crate) fn nothing() -> Pointer {
        Pointer { offset: None, groups: BTreeSet::new(), unknown: false, undefined: false }
    }
    pub(crate) fn undefined() -> Pointer {
        Pointer { undefined: true, ..Pointer::nothing() }
    }
    /// Null or in one of the groups: there is no other value.
    pub fn is_complete(&self) -> bool {
        !self.unknown && !self.undefined
    }
    pub(crate) fn join(&mut self, other: &Pointer) -> bool {
        let offset = match (self.offset, other.offset) {
            (a, None) => a,
            (None, b) => b,
            (Some(a), Some(b)) => Some(a.join(b)),
        };
        let unknown = self.unknown || other.unknown;
        let before = self.groups.len();
        self.groups.extend(&other.groups);
        let undefined = self.undefined || other.undefined;
        let flags = (self.unknown, self.undefined) != (unknown, undefined);
        let changed = offset != self.offset || flags || before != self.groups.len();
        (self.offset, self.unknown, self.undefined) = (offset, unknown, undefined);
        changed
    }
    pub(crate) fn shifted(mut self, by: Offset) -> Pointer {
        self.offset = self.offset.map(|o| o.plus(by));
        self
    }
}

pub type State = FxHashMap<(FrameId, Slot), Pointer>;

/// Whether the offset can be `at`, or differ from it by multiples of the period.
pub(crate) fn may_be(offset: Option<Offset>, at: u64, period: u64) -> bool {
    let Some(o) = offset else { return true };
    let m = gcd(o.m, period);
    if m == 0 { o.r == at as i64 } else { (i128::from(o.r) - i128::from(at)).rem_euclid(i128::from(m)) == 0 }
}
