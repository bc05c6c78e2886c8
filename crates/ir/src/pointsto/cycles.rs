//! Cycles of inclusions become one variable: Tarjan's components, without recursion.

use super::inclusions::{Inclusions, Node};

const UNSEEN: u32 = u32::MAX;

#[derive(Default)]
struct Search {
    /// when each variable was found
    found: Vec<u32>,
    low: Vec<u32>,
    on_stack: Vec<bool>,
    stack: Vec<Node>,
    /// variables under way, with the next of their copies to look at
    path: Vec<(Node, usize)>,
    next: u32,
    components: Vec<Vec<Node>>,
}

impl Search {
    fn enter(&mut self, v: Node) {
        (self.found[v as usize], self.low[v as usize]) = (self.next, self.next);
        self.next += 1;
        self.on_stack[v as usize] = true;
        self.stack.push(v);
        self.path.push((v, 0));
    }

    fn leave(&mut self, v: Node) {
        self.path.pop();
        if let Some(&(up, _)) = self.path.last() {
            self.low[up as usize] = self.low[up as usize].min(self.low[v as usize]);
        }
        if self.low[v as usize] != self.found[v as usize] {
            return;
        }
        let at = self.stack.iter().rposition(|&x| x == v).unwrap_or(0);
        let component = self.stack.split_off(at);
        component.iter().for_each(|&x| self.on_stack[x as usize] = false);
        self.components.push(component);
    }
}

impl Inclusions {
    /// Joins the variables of each cycle. The variables that are left, those that are included before those that
    /// include them.
    pub(super) fn collapse(&mut self) -> Vec<Node> {
        let count = self.parent.len();
        for v in 0..count {
            if self.parent[v] as usize == v {
                let mut copies = std::mem::take(&mut self.variables[v].copies);
                copies.iter_mut().for_each(|c| *c = self.root(*c));
                copies.sort_unstable();
                copies.dedup();
                copies.retain(|&c| c as usize != v);
                self.variables[v].copies = copies;
            }
        }
        let mut s = Search {
            found: vec![UNSEEN; count],
            low: vec![0; count],
            on_stack: vec![false; count],
            ..Search::default()
        };
        for v in 0..count as Node {
            if self.parent[v as usize] == v && s.found[v as usize] == UNSEEN {
                s.enter(v);
                self.visit(&mut s);
            }
        }
        let mut order = Vec::with_capacity(s.components.len());
        for component in s.components.iter().rev() {
            order.push(self.join(component));
        }
        if order.len() < count {
            for &v in &order {
                let mut copies = std::mem::take(&mut self.variables[v as usize].copies);
                copies.iter_mut().for_each(|c| *c = self.root(*c));
                self.variables[v as usize].copies = copies;
            }
        }
        order
    }

    fn visit(&self, s: &mut Search) {
        while let Some((v, at)) = s.path.last_mut() {
            let v = *v;
            match self.variables[v as usize].copies.get(*at) {
                Some(&to) => {
                    *at += 1;
                    if s.found[to as usize] == UNSEEN {
                        s.enter(to);
                    } else if s.on_stack[to as usize] {
                        s.low[v as usize] = s.low[v as usize].min(s.found[to as usize]);
                    }
                }
                None => s.leave(v),
            }
        }
    }

    /// One variable for those of a component.
    fn join(&mut self, component: &[Node]) -> Node {
        let first = component[0];
        let mut one = std::mem::take(&mut self.variables[first as usize]);
        for &v in &component[1..] {
            self.parent[v as usize] = first;
            let other = std::mem::take(&mut self.variables[v as usize]);
            one.set.grow(&other.set);
            // Where a part has not got as far as the others, all begin again.
            if !one.given.same(&other.given) {
                one.given = Default::default();
            }
            let (mine, theirs) = (one.accesses(), other.accesses());
            if !mine {
                one.seen = other.seen;
            } else if theirs && !one.seen.same(&other.seen) {
                one.seen = Default::default();
            }
            one.copies.extend(other.copies);
            one.loads.extend(other.loads);
            one.stores.extend(other.stores);
        }
        if component.len() > 1 {
            for list in [&mut one.loads, &mut one.stores] {
                list.sort_unstable();
                list.dedup();
            }
        }
        self.variables[first as usize] = one;
        first
    }
}
