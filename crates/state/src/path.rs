//! The path constraint, kept as independent groups, each with a model.
//!
//! *Idea*: two constraints that share no symbolic variable (directly or through others) cannot influence each other.
//! The groups are maintained as constraints arrive, so that a branch looks at one group only; each group carries an
//! assignment that satisfies it, so that one side of a branch is known to be feasible by evaluation. *Invariant*: for
//! every group, `model ⊨ ⋀ constraints`; the keys of different groups do not overlap; hence the union of the models,
//! each restricted to its group's keys, satisfies the whole path constraint. With this path's addresses substituted,
//! `based` is equivalent to `constraints`.

use crate::map::{HashMap, OrdMap};
use pleach_expr::arc::{Arc, Meet};
use pleach_expr::{Key, Model, Op, SymbolId, TermId, Terms};
use smallvec::SmallVec;
use std::rc::Rc;

type GroupId = u32;

/// A conjunction of more conjuncts is added as a whole: each that joins a large group would copy it.
const MAX_SEPARATE: usize = 256;

#[derive(Debug)]
pub struct Group {
    /// sorted, without duplicates, base-free
    pub constraints: Rc<[TermId]>,
    pub keys: Rc<[Key]>,
    pub model: Rc<Model>,
    /// the same constraints with bases, sorted, where addresses were substituted for some
    pub based: Option<Rc<[TermId]>>,
}

/// One link of the list of all constraints, newest first, as the program made them (with bases).
#[derive(Debug)]
pub struct Link {
    pub constraint: TermId,
    pub before: Option<Rc<Link>>,
}

impl Drop for Link {
    // Iterative, or a path of a million constraints would overflow the stack when it is dropped.
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(rc) = next {
            match Rc::try_unwrap(rc) {
                Ok(mut link) => next = link.before.take(),
                Err(_) => break,
            }
        }
    }
}

#[derive(Clone)]
pub struct PathConstraint {
    all: Option<Rc<Link>>,
    len: usize,
    group_of: OrdMap<Key, GroupId>,
    groups: HashMap<GroupId, Rc<Group>>,
    next: GroupId,
    /// symbolic variables that a constraint `x = c` has fixed
    fixed: HashMap<Key, u64>,
    empty: Rc<Model>,
}

/// What a condition has to be solved together with.
#[derive(Clone, Debug)]
pub struct IndependentSlice {
    pub groups: SmallVec<[GroupId; 4]>,
    /// sorted, without duplicates
    pub constraints: Rc<[TermId]>,
    /// satisfies `constraints`
    pub model: Rc<Model>,
    /// the same with bases, where addresses were substituted for some
    pub based: Option<Rc<[TermId]>>,
}

impl IndependentSlice {
    /// The constraints with bases.
    pub fn with_bases(&self) -> &Rc<[TermId]> {
        self.based.as_ref().unwrap_or(&self.constraints)
    }
}

impl Default for PathConstraint {
    fn default() -> Self {
        PathConstraint {
            all: None,
            len: 0,
            group_of: OrdMap::new(),
            groups: HashMap::default(),
            next: 0,
            fixed: HashMap::default(),
            empty: Rc::new(Model::new()),
        }
    }
}

impl PathConstraint {
    pub fn len(&self) -> usize {
        self.len
    }
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All constraints, newest first, as they were added.
    pub fn iter(&self) -> impl Iterator<Item = TermId> + '_ {
        let mut at = self.all.as_deref();
        std::iter::from_fn(move || {
            let l = at?;
            at = l.before.as_deref();
            Some(l.constraint)
        })
    }

    /// The link of the newest constraint.
    pub fn newest(&self) -> Option<&Link> {
        self.all.as_deref()
    }

    /// The constraints added after `earlier`, oldest first; `None` if this one does not extend it.
    pub fn since(&self, earlier: &PathConstraint) -> Option<Vec<TermId>> {
        let mut added = Vec::with_capacity(self.len.checked_sub(earlier.len)?);
        let mut at = self.all.as_ref();
        for _ in earlier.len..self.len {
            let link = at?;
            added.push(link.constraint);
            at = link.before.as_ref();
        }
        let same = match (at, &earlier.all) {
            (Some(a), Some(b)) => Rc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        };
        added.reverse();
        same.then_some(added)
    }

    pub fn groups(&self) -> impl Iterator<Item = &Rc<Group>> {
        let mut ids: Vec<_> = self.groups.keys().copied().collect();
        ids.sort_unstable();
        ids.into_iter().filter_map(|g| self.groups.get(&g))
    }

    fn groups_of(&self, keys: &[Key]) -> SmallVec<[GroupId; 4]> {
        let mut out: SmallVec<[GroupId; 4]> = SmallVec::new();
        let mut add = |g: GroupId| {
            if !out.contains(&g) {
                out.push(g);
            }
        };
        for &k in keys {
            if k.is_whole() {
                let s = k.symbol();
                for (_, &g) in self.group_of.range(Key::new(s, 0)..=k) {
                    add(g);
                }
            } else {
                if let Some(&g) = self.group_of.get(&k) {
                    add(g);
                }
                if let Some(&g) = self.group_of.get(&Key::new(k.symbol(), Key::WHOLE)) {
                    add(g);
                }
            }
        }
        out.sort_unstable();
        out
    }

    /// The constraints a base-free condition depends on, with a model of them.
    pub fn relevant(&self, terms: &mut Terms, condition: TermId) -> IndependentSlice {
        let keys = terms.support(condition);
        let groups = self.groups_of(&keys);
        match groups.as_slice() {
            [] => IndependentSlice { groups, constraints: Rc::new([]), model: self.empty.clone(), based: None },
            [g] => {
                let g = &self.groups[g];
                let (constraints, model, based) = (g.constraints.clone(), g.model.clone(), g.based.clone());
                IndependentSlice { constraints, model, based, groups }
            }
            many => {
                let mut constraints: Vec<TermId> = Vec::new();
                let mut based: Option<Vec<TermId>> = None;
                let mut model = Model::new();
                for g in many {
                    let g = &self.groups[g];
                    if let (None, Some(_)) = (&based, &g.based) {
                        based = Some(constraints.clone());
                    }
                    if let Some(based) = &mut based {
                        based.extend(g.based.as_ref().unwrap_or(&g.constraints).iter());
                    }
                    constraints.extend(g.constraints.iter());
                    merge_model(&mut model, g);
                }
                let based = based.map(sorted);
                IndependentSlice { groups, constraints: sorted(constraints), model: Rc::new(model), based }
            }
        }
    }

    /// Every symbolic variable of the condition has been fixed by an equation: its value under the model is its value.
    pub fn decides(&self, terms: &mut Terms, condition: TermId) -> bool {
        !self.fixed.is_empty() && terms.support(condition).iter().all(|k| self.fixed.contains_key(k))
    }

    /// Adds `condition` (base-free form `plain`). `model` satisfies it together with `relevant(plain)`.
    pub fn add(
        &mut self,
        terms: &mut Terms,
        condition: TermId,
        address_free: TermId,
        relevant: &IndependentSlice,
        model: Rc<Model>,
    ) {
        if address_free == Terms::TRUE {
            return;
        }
        self.all = Some(Rc::new(Link { constraint: condition, before: self.all.take() }));
        self.len += 1;
        let mut conjuncts = Vec::new();
        split(terms, address_free, &mut conjuncts);
        let one_by_one = 2..=MAX_SEPARATE;
        if relevant.based.is_some() || condition != address_free || !one_by_one.contains(&conjuncts.len()) {
            return self.add_conjuncts(terms, condition, address_free, conjuncts, relevant, model);
        }
        for c in conjuncts {
            // SOUND: the model satisfies all conjuncts and the groups that they join.
            let relevant = self.relevant(terms, c);
            self.add_conjuncts(terms, c, c, vec![c], &relevant, model.clone());
        }
    }

    /// Adds conjuncts to the groups that they belong to, which become one.
    fn add_conjuncts(
        &mut self,
        terms: &mut Terms,
        condition: TermId,
        address_free: TermId,
        conjuncts: Vec<TermId>,
        relevant: &IndependentSlice,
        model: Rc<Model>,
    ) {
        let mut keys: Vec<Key> = terms.support(address_free).to_vec();
        let mut constraints: Vec<TermId> = relevant.constraints.to_vec();
        let based = (relevant.based.is_some() || condition != address_free).then(|| {
            let mut based: Vec<TermId> = relevant.with_bases().to_vec();
            let mut conjuncts = Vec::new();
            split(terms, condition, &mut conjuncts);
            for c in conjuncts {
                narrow(terms, &mut based, c);
            }
            sorted(based)
        });
        for g in &relevant.groups {
            if let Some(g) = self.groups.remove(g) {
                keys.extend(g.keys.iter());
            }
        }
        keys.sort_unstable();
        keys.dedup();
        for c in conjuncts {
            for l in narrow(terms, &mut constraints, c) {
                self.record_fixed_value(terms, l);
            }
        }
        let constraints = sorted(constraints);
        let id = self.next;
        self.next += 1;
        for &k in &keys {
            self.group_of.insert(k, id);
        }
        self.groups.insert(id, Rc::new(Group { constraints, keys: keys.into(), model, based }));
    }

    fn record_fixed_value(&mut self, terms: &Terms, c: TermId) {
        let n = terms.node(c);
        let (x, value) = match n.op {
            Op::Eq => match (terms.as_const(n.arg_a()), terms.as_const(n.arg_b())) {
                (Some(v), None) => (n.arg_b(), v),
                (None, Some(v)) => (n.arg_a(), v),
                _ => return,
            },
            Op::Not => (n.arg_a(), 0),
            _ => (c, 1),
        };
        let x = terms.node(x);
        match x.op {
            Op::Var => {
                self.fixed.insert(Key::new(SymbolId(x.a), 0), value);
            }
            Op::Read if terms.op(x.arg_a()) == Op::ArrayVar => {
                if let Some(i) = terms.as_const(x.arg_b()) {
                    self.fixed.insert(Key::new(SymbolId(terms.node(x.arg_a()).a), i as u32), value);
                }
            }
            _ => {}
        }
    }

    /// One assignment for the whole path constraint.
    pub fn model(&self) -> Model {
        let mut m = Model::new();
        for g in self.groups() {
            merge_model(&mut m, g);
        }
        m
    }

    /// The value this path's model gives to one symbolic variable.
    pub fn model_value(&self, key: Key) -> u64 {
        // A whole array answers for its cells, the first limb of a wide variable for the others.
        let near = [key, Key::new(key.symbol(), Key::WHOLE), Key::new(key.symbol(), 0)];
        let g = near.iter().find_map(|k| self.group_of.get(k));
        g.and_then(|g| self.groups.get(g)).map_or(0, |g| g.model.get(key))
    }
}

/// Adds a constraint; what it says together with others about one term is said once: `x > 3` and `x ≠ 4` become `x >
/// 4`. Returns what was added.
///
/// SOUND: the new constraints are equivalent to those they replace.
fn narrow(terms: &mut Terms, constraints: &mut Vec<TermId>, c: TermId) -> SmallVec<[TermId; 2]> {
    let mut added: SmallVec<[TermId; 2]> = SmallVec::new();
    let mut merged = false;
    if let Some((x, mut arc)) = Arc::of_unshifted(terms, c) {
        let w = terms.width(x);
        let mut i = 0;
        while i < constraints.len() {
            match Arc::of_unshifted(terms, constraints[i]) {
                Some((y, other)) if y == x => match arc.meet(other, w) {
                    Meet::Arc(both) => {
                        constraints.swap_remove(i);
                        // What met this one may now meet an earlier one.
                        i = if both == arc { i } else { 0 };
                        arc = both;
                        merged = true;
                    }
                    _ => i += 1,
                },
                _ => i += 1,
            }
        }
        if merged {
            added.extend(arc.write(terms, x));
        }
    }
    if !merged {
        added.push(c);
    }
    constraints.extend(added.iter().filter(|l| **l != Terms::TRUE));
    added
}

fn sorted(mut constraints: Vec<TermId>) -> Rc<[TermId]> {
    constraints.sort_unstable();
    constraints.dedup();
    constraints.into()
}

fn split(terms: &mut Terms, t: TermId, out: &mut Vec<TermId>) {
    let mut todo = vec![t];
    while let Some(t) = todo.pop() {
        let n = terms.node(t);
        if n.op == Op::And && n.width == 1 {
            todo.extend([n.arg_b(), n.arg_a()]);
            continue;
        }
        let below = terms.node(if n.op == Op::Not { n.arg_a() } else { t });
        if n.op == Op::Not && below.op == Op::Or && below.width == 1 {
            // ¬(a ∨ b) is ¬a ∧ ¬b
            todo.extend([terms.not(below.arg_b()), terms.not(below.arg_a())]);
        } else {
            out.push(t);
        }
    }
}

/// Copies what the group's model says about the group's own keys.
fn merge_model(into: &mut Model, g: &Group) {
    for (k, v) in g.model.entries() {
        let whole = Key::new(k.symbol(), Key::WHOLE);
        if g.keys.binary_search(&k).is_ok() || g.keys.binary_search(&whole).is_ok() || is_limb(&g.keys, k) {
            into.set(k, v);
        }
    }
}

/// Limbs above the first of a variable wider than 64 bits are listed under cells of their own.
fn is_limb(keys: &[Key], k: Key) -> bool {
    k.cell() != 0 && keys.binary_search(&Key::new(k.symbol(), 0)).is_ok()
}
