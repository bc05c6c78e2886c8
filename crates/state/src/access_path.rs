//! Ways to objects: from registers and globals through pointers in memory.

use crate::frame::Frame;
use crate::state::State;
use pleach_memory::{ObjId, Value};
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

/// At most this many words of memory are searched for a path to an object.
const LOOK: usize = 8192;

/// Where a pointer is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PointerSource {
    Register { depth: u32, slot: u32 },
    Memory { obj: ObjId, off: u64 },
}

/// `holder` points to the object, at the offset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Link {
    pub holder: PointerSource,
    pub to: ObjId,
    pub off: u64,
}

/// The link that found an object, and the step before it.
type Step = (Option<usize>, Option<Link>, ObjId);

/// Frames with their call depths, from the top.
pub fn frames(state: &State) -> impl Iterator<Item = (u32, &Frame)> {
    let below = std::iter::successors(state.callers.as_deref(), |c| c.below.as_deref());
    // The frame in a caller entry of depth d is the one at depth d - 1.
    std::iter::once((state.call_depth(), &state.frame)).chain(below.map(|c| (c.depth - 1, &c.frame)))
}

/// The links that lead to the objects, each after those it needs; `None` if one is not found. Objects below `fixed` are
/// the same in every state and need no access path; the first `globals` of them are searched. `word` is the size of a
/// pointer.
pub fn access_paths(state: &State, fixed: u32, globals: u32, word: u64, wanted: &[ObjId]) -> Option<Vec<Link>> {
    let mut open: FxHashSet<ObjId> = wanted.iter().copied().filter(|o| o.0 >= fixed).collect();
    let mut links = Vec::new();
    let mut found: Vec<Step> = Vec::new();
    let mut seen: FxHashSet<ObjId> = FxHashSet::default();
    let mut todo: VecDeque<usize> = VecDeque::new();
    let mut add = |found: &mut Vec<Step>, todo: &mut VecDeque<usize>, before, link, o: ObjId| {
        if seen.insert(o) {
            todo.push_back(found.len());
            found.push((before, link, o));
        }
    };
    let mut outermost_first: Vec<_> = frames(state).collect();
    outermost_first.reverse();
    let mut direct = Vec::new();
    for (depth, frame) in outermost_first {
        for (slot, v) in frame.regs.iter().enumerate() {
            if let &Value::Ptr { obj: to, off } = v
                && to.0 >= fixed
                && let Ok(off) = u64::try_from(off)
            {
                let link = Link { holder: PointerSource::Register { depth, slot: slot as u32 }, to, off };
                // The pointer was most likely read from memory; a register with the address is often a left-over.
                match open.contains(&to) {
                    true => direct.push(link),
                    false => add(&mut found, &mut todo, None, Some(link), to),
                }
            }
        }
    }
    for g in 0..globals {
        add(&mut found, &mut todo, None, None, ObjId(g));
    }
    let mut looked = 0;
    while !open.is_empty() {
        if todo.is_empty() {
            std::mem::take(&mut direct).into_iter().for_each(|l| add(&mut found, &mut todo, None, Some(l), l.to));
        }
        let i = todo.pop_front()?;
        let obj = found[i].2;
        if open.remove(&obj) {
            let first = links.len();
            let mut at = Some(i);
            while let Some((before, link, _)) = at.map(|i| found[i]) {
                links.extend(link.filter(|l| !links[..first].contains(l)));
                at = before;
            }
            links[first..].reverse();
        }
        let Some(object) = state.memory.get(obj) else { continue };
        for off in (0..object.capacity()).step_by(word as usize) {
            looked += 1;
            if looked > LOOK {
                return None;
            }
            if let Some(Value::Ptr { obj: to, off: at }) = object.contents.read_cell(off, word as usize)
                && to.0 >= fixed
                && let Ok(at) = u64::try_from(at)
            {
                let link = Link { holder: PointerSource::Memory { obj, off }, to, off: at };
                add(&mut found, &mut todo, Some(i), Some(link), to);
            }
        }
    }
    Some(links)
}
