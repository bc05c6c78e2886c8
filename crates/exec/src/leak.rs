//! Memory that nothing points to when the program ends.

use crate::flow::Flow;
use crate::machine::Machine;
use pleach_expr::facts;
use pleach_memory::{ObjId, ObjectKind, Value};
use pleach_state::{ErrorKind, State};
use rustc_hash::FxHashSet;

impl Machine {
    /// The first heap block that cannot be reached from globals or live locals.
    pub(crate) fn leak(&mut self, st: &mut State) -> Option<Flow> {
        let mut reached: FxHashSet<ObjId> = FxHashSet::default();
        let mut todo: Vec<ObjId> = Vec::new();
        let heap: Vec<ObjId> = st.memory.live().filter(|(_, o)| o.kind == ObjectKind::Heap).map(|(id, _)| id).collect();
        if heap.is_empty() {
            return None;
        }
        todo.extend(st.memory.live().filter(|(_, o)| o.kind != ObjectKind::Heap).map(|(id, _)| id));
        while let Some(id) = todo.pop() {
            if !reached.insert(id) {
                continue;
            }
            let Some(o) = st.memory.get(id) else { continue };
            for (_, _, v) in o.contents.cells() {
                match v {
                    Value::Ptr { obj, .. } => todo.push(obj),
                    Value::Term(t) if self.terms.has(t, facts::HAS_BASE) => todo.extend(self.terms.bases(t)),
                    _ => {}
                }
            }
        }
        let lost = heap.into_iter().find(|h| !reached.contains(h))?;
        let size = st.memory.get(lost).map_or(0, |o| o.size);
        let what = self.describe(st, lost, size);
        Some(Flow::error(ErrorKind::Leak, format!("{what} is never freed and nothing points to it at the end")))
    }
}
