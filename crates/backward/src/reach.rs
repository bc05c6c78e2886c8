//! What a call that is not followed, or a store through an unknown pointer, may change.

use crate::effects::{Effect, Writes};
use crate::graph::NodeId;
use crate::pointers::{Group, GroupId, Pointer, Pointers, State};
use pleach_ir::{Function, Inst, Ty};
use std::collections::BTreeSet;

impl Pointers<'_> {
    /// What the call at this instruction does, if it is not followed; nothing where calls are cut.
    pub fn effect(&self, n: NodeId, i: usize) -> Effect {
        let Some(covers) = &self.covers else { return Effect::default() };
        let func = self.graph.frames[self.graph.node(n).frame.index()].func;
        covers.effects.of_call(self.program, &covers.calls, func, i)
    }

    /// The groups whose memory the call may write or free, and what it does.
    pub fn touched(&mut self, n: NodeId, f: &Function, i: usize, state: &State) -> (BTreeSet<GroupId>, Effect) {
        let effect = self.effect(n, i);
        let Inst::Call { args, .. } = f.insts[i] else { return (BTreeSet::new(), Effect::default()) };
        if effect.writes == Writes::Nothing && !effect.frees {
            return (BTreeSet::new(), effect);
        }
        let frame = self.graph.node(n).frame;
        let mut roots = BTreeSet::new();
        for a in f.args[args.as_range()].iter().filter(|a| a.ty == Ty::Ptr) {
            let at = self.operand(frame, f, a.value, state);
            if at.unknown {
                return (self.everything(), effect);
            }
            roots.extend(at.groups);
        }
        if roots.iter().any(|g| matches!(self.groups[g.index()], Group::Pool { ty: None, .. })) {
            return (self.everything(), effect);
        }
        if effect.unknown {
            // Whoever made the input may have kept pointers to it.
            let pools = self.everything().into_iter().filter(|g| matches!(self.groups[g.index()], Group::Pool { .. }));
            roots.extend(pools);
        }
        match effect.writes {
            Writes::Arguments => (roots, effect),
            Writes::Nothing | Writes::Reachable => (self.reachable(roots), effect),
        }
    }

    /// What the groups and all globals lead to.
    fn reachable(&mut self, mut found: BTreeSet<GroupId>) -> BTreeSet<GroupId> {
        found.extend(self.everything().into_iter().filter(|g| matches!(self.groups[g.index()], Group::Global(_))));
        found.extend(&self.escaped);
        let mut todo: Vec<GroupId> = found.iter().copied().collect();
        while let Some(g) = todo.pop() {
            let anywhere = Pointer { groups: BTreeSet::from([g]), ..Pointer::unknown() };
            for next in self.loaded(&anywhere).groups {
                if found.insert(next) {
                    todo.push(next);
                }
            }
        }
        found
    }

    pub fn everything(&self) -> BTreeSet<GroupId> {
        (0..self.groups.len()).map(|i| GroupId(i as u32)).collect()
    }

    /// Pointers in this memory may be any.
    pub(crate) fn forget(&mut self, groups: &BTreeSet<GroupId>) {
        for &g in groups {
            self.put(g, None, &Pointer::unknown());
        }
    }

    /// A call that is not followed.
    pub(crate) fn called(&mut self, n: NodeId, f: &Function, i: usize, state: &State) {
        if self.covers.is_none() {
            return;
        }
        let (groups, effect) = self.touched(n, f, i, state);
        if effect.writes == Writes::Reachable {
            self.escape(&groups);
        }
        if effect.writes != Writes::Nothing {
            self.forget(&groups);
        }
    }

    /// Code that is not followed may have kept pointers to these.
    fn escape(&mut self, groups: &BTreeSet<GroupId>) {
        let before = self.escaped.len();
        self.escaped.extend(groups);
        self.changed |= self.escaped.len() != before;
    }

    /// Something was written through this pointer: a pointer to these groups, if it was one.
    pub(crate) fn written(&mut self, at: &Pointer, value: &BTreeSet<GroupId>) {
        if self.covers.is_some() && self.is_opaque(at) {
            self.escape(value);
            self.forget(&self.everything());
        }
    }

    /// Some of what the pointer may refer to is not modelled.
    pub fn is_opaque(&self, at: &Pointer) -> bool {
        at.unknown || at.groups.iter().any(|g| matches!(self.groups[g.index()], Group::Pool { ty: None, .. }))
    }
}
