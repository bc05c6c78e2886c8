//! States that left a region and wait for others to leave it in the same way.
//!
//! *Invariant*: members of a group stand at the same place of the same call and have the same inputs. Groups are found
//! by what is quickly compared: a loop that asks for an input in each round has a group for each round.

use crate::fields::same_callers;
use pleach_ir::{BlockId, FuncId};
use pleach_state::State;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Equal for all members of a group.
type Key = (FuncId, BlockId, u32, u32, usize);

fn key(s: &State) -> Key {
    (s.frame.func, s.block, s.inst, s.call_depth(), s.inputs.len())
}

type Members = Vec<Box<State>>;

/// The groups of a region, in the order of their first members.
#[derive(Default)]
pub(crate) struct WaitingGroups {
    groups: BTreeMap<u64, Members>,
    index: FxHashMap<Key, Vec<u64>>,
    next: u64,
}

impl WaitingGroups {
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// The state waits. Its group, if that has `most` members now.
    pub fn add(&mut self, state: Box<State>, most: usize) -> Option<Members> {
        let key = key(&state);
        let numbers = self.index.entry(key).or_default();
        let meets = |members: &Members| {
            let other = &members[0];
            same_callers(&other.callers, &state.callers) && other.inputs.is_same(&state.inputs)
        };
        let known = numbers.iter().copied().find(|n| self.groups.get(n).is_some_and(meets));
        let number = known.unwrap_or_else(|| {
            numbers.push(self.next);
            self.next += 1;
            self.next - 1
        });
        let members = self.groups.entry(number).or_default();
        members.push(state);
        if members.len() < most {
            return None;
        }
        self.take(number)
    }

    pub fn take_first(&mut self) -> Option<Members> {
        let (&number, _) = self.groups.first_key_value()?;
        self.take(number)
    }

    fn take(&mut self, number: u64) -> Option<Members> {
        let members = self.groups.remove(&number)?;
        let key = key(&members[0]);
        if let Some(numbers) = self.index.get_mut(&key) {
            numbers.retain(|n| *n != number);
            if numbers.is_empty() {
                self.index.remove(&key);
            }
        }
        Some(members)
    }

    /// The members of each group.
    pub fn into_members(self) -> impl Iterator<Item = Members> {
        self.groups.into_values()
    }
}
