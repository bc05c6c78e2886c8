//! A persistent vector: cloning is O(1), reading and writing O(log₃₂ n); what two clones share is copied when one of
//! them first writes to it.

use std::rc::Rc;

const BITS: u32 = 5;
const FAN: usize = 1 << BITS;

#[derive(Clone)]
enum Node<T> {
    Branch(Rc<Vec<Node<T>>>),
    Leaf(Rc<Vec<T>>),
}

#[derive(Clone)]
pub struct PVec<T> {
    root: Node<T>,
    len: usize,
    /// bits of the index above the leaf level
    shift: u32,
}

impl<T: Clone> Default for PVec<T> {
    fn default() -> Self {
        PVec { root: Node::Leaf(Rc::new(Vec::new())), len: 0, shift: 0 }
    }
}

impl<T: Clone> PVec<T> {
    pub fn len(&self) -> usize {
        self.len
    }
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    pub fn get(&self, i: usize) -> Option<&T> {
        if i >= self.len {
            return None;
        }
        let mut node = &self.root;
        let mut shift = self.shift;
        loop {
            match node {
                Node::Branch(b) => {
                    node = &b[(i >> shift) & (FAN - 1)];
                    shift -= BITS;
                }
                Node::Leaf(l) => return l.get(i & (FAN - 1)),
            }
        }
    }

    #[inline]
    pub fn get_mut(&mut self, i: usize) -> Option<&mut T> {
        if i >= self.len {
            return None;
        }
        let mut node = &mut self.root;
        let mut shift = self.shift;
        loop {
            match node {
                Node::Branch(b) => {
                    node = &mut Rc::make_mut(b)[(i >> shift) & (FAN - 1)];
                    shift -= BITS;
                }
                Node::Leaf(l) => return Rc::make_mut(l).get_mut(i & (FAN - 1)),
            }
        }
    }

    pub fn push(&mut self, value: T) {
        if self.len == FAN << self.shift {
            let old = std::mem::replace(&mut self.root, Node::Leaf(Rc::new(Vec::new())));
            self.root = Node::Branch(Rc::new(vec![old]));
            self.shift += BITS;
        }
        let i = self.len;
        let mut node = &mut self.root;
        let mut shift = self.shift;
        loop {
            match node {
                Node::Branch(b) => {
                    let b = Rc::make_mut(b);
                    let k = (i >> shift) & (FAN - 1);
                    shift -= BITS;
                    if k == b.len() {
                        b.push(if shift == 0 {
                            Node::Leaf(Rc::new(Vec::with_capacity(4)))
                        } else {
                            Node::Branch(Rc::new(Vec::with_capacity(1)))
                        });
                    }
                    node = &mut b[k];
                }
                Node::Leaf(l) => {
                    Rc::make_mut(l).push(value);
                    break;
                }
            }
        }
        self.len += 1;
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len).filter_map(move |i| self.get(i))
    }

    /// Positions that both have and that the two do not share, ascending.
    pub fn unshared(&self, other: &PVec<T>) -> Vec<usize> {
        let both = self.len.min(other.len);
        let mut found = Vec::new();
        if self.shift != other.shift {
            found.extend(0..both);
            return found;
        }
        let mut todo = vec![(&self.root, &other.root, 0usize, self.shift)];
        while let Some((a, b, first, shift)) = todo.pop() {
            match (a, b) {
                (Node::Branch(x), Node::Branch(y)) if !Rc::ptr_eq(x, y) => {
                    let pairs = x.iter().zip(y.iter()).enumerate().rev();
                    todo.extend(pairs.map(|(i, (a, b))| (a, b, first + (i << shift), shift - BITS)));
                }
                (Node::Leaf(x), Node::Leaf(y)) if !Rc::ptr_eq(x, y) => {
                    found.extend(first..(first + FAN).min(both));
                }
                _ => {}
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::PVec;

    #[test]
    fn behaves_like_a_vector_and_clones_are_independent() {
        let mut v = PVec::default();
        let mut model = Vec::new();
        let mut snapshots = Vec::new();
        for i in 0..5000usize {
            v.push(i);
            model.push(i);
            if i % 3 == 0 {
                *v.get_mut(i / 2).unwrap() += 7;
                model[i / 2] += 7;
            }
            if i % 500 == 0 {
                snapshots.push((v.clone(), model.clone()));
            }
        }
        snapshots.push((v, model));
        for (p, m) in &snapshots {
            assert_eq!(p.len(), m.len());
            assert!(p.iter().eq(m.iter()));
            assert_eq!(p.get(m.len()), None);
        }
    }

    #[test]
    fn what_clones_share_is_not_looked_at() {
        let mut a = PVec::default();
        (0..3000usize).for_each(|i| a.push(i));
        let mut b = a.clone();
        assert_eq!(a.unshared(&b), Vec::<usize>::new());
        *b.get_mut(70).unwrap() = 0;
        b.push(3000);
        let unshared = a.unshared(&b);
        assert!(unshared.contains(&70) && unshared.len() <= 64, "{unshared:?}");
        assert!((0..3000).filter(|i| a.get(*i) != b.get(*i)).all(|i| unshared.contains(&i)));
    }
}
