//! Memory that is left when the program ends.

use crate::flow::Flow;
use crate::machine::Machine;
use pleach_expr::facts;
use pleach_memory::{ObjId, ObjectKind, Value};
use pleach_state::{ErrorKind, Leaks, State};
use rustc_hash::FxHashSet;

impl Machine {
    /// The first heap block that was not freed or, unless that is asked for, that cannot be reached from globals and live locals.
    pub(crate) fn leak(&mut self, st: &mut State) -> Option<Flow> {
        let mut reached: FxHashSet<ObjId> = FxHashSet::default();
        let mut todo: Vec<ObjId> = Vec::new();
        let heap: Vec<ObjId> = st.memory.live().filter(|(_, o)| o.kind == ObjectKind::Heap).map(|(id, _)| id).collect();
        if heap.is_empty() {
            return None;
        }
        if self.config.leaks == Leaks::Unfreed {
            let size = st.memory.header(heap[0]).map_or(0, |o| o.size);
            let what = self.describe(st, heap[0], size);
            return Some(Flow::error(ErrorKind::Leak, format!("{what} is not freed at the end")));
        }
        todo.extend(st.memory.live().filter(|(_, o)| o.kind != ObjectKind::Heap).map(|(id, _)| id));
        // `exit` leaves the frames of its callers as they are.
        let mut at = st.callers.as_deref();
        self.pointed_to(&st.frame.regs, &mut todo);
        while let Some(c) = at {
            self.pointed_to(&c.frame.regs, &mut todo);
            at = c.below.as_deref();
        }
        while let Some(id) = todo.pop() {
            if !reached.insert(id) {
                continue;
            }
            let Some((contents, w)) = st.memory.contents(id) else { continue };
            let held = contents.held(w);
            self.pointed_to(&held, &mut todo);
        }
        let lost = heap.into_iter().find(|h| !reached.contains(h))?;
        let size = st.memory.header(lost).map_or(0, |o| o.size);
        let what = self.describe(st, lost, size);
        Some(Flow::error(ErrorKind::Leak, format!("{what} is never freed and nothing points to it at the end")))
    }

    fn pointed_to(&mut self, values: &[Value], objects: &mut Vec<ObjId>) {
        for v in values {
            match *v {
                Value::Ptr { obj, .. } => objects.push(obj),
                Value::Term(t) if self.terms.has(t, facts::HAS_BASE) => objects.extend(self.terms.bases(t)),
                _ => {}
            }
        }
    }
}
