//! The execution tree as the page takes it: nodes in preorder, five variable-length numbers each.
//!
//! 1. how far back the parent is (0 for a root);
//! 2. the node's number, as the difference to the one before (zigzag);
//! 3. status, plus 8 if a path below was cut;
//! 4. the place, plus 1, 0 if unknown: an index into [`PackedTree::places`];
//! 5. the test, 0 for none.
//!
//! A million nodes take about 8 MB. In preorder a subtree is a range, so the page draws only what is visible.

use pleach_report::tree::TreeReader;
use std::collections::{BTreeMap, HashMap};

/// A tree ready for the page.
pub struct PackedTree {
    pub bytes: Vec<u8>,
    /// File (an index into the tree's files) and line.
    pub places: Vec<(u32, u32)>,
    pub count: usize,
}

/// Nodes whose parent is not there, as in a damaged file, are roots.
pub fn pack(tree: &TreeReader) -> PackedTree {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let mut stack: Vec<(u32, Option<usize>)> = Vec::new();
    for node in tree.nodes.values() {
        match node.parent.filter(|p| *p < node.id && tree.nodes.contains_key(p)) {
            Some(parent) => children.entry(parent).or_default().push(node.id),
            None => stack.push((node.id, None)),
        }
    }
    stack.reverse();
    let mut packed = PackedTree { bytes: Vec::new(), places: Vec::new(), count: 0 };
    let mut places = HashMap::new();
    let mut before = 0i64;
    while let Some((id, parent)) = stack.pop() {
        let Some(node) = tree.nodes.get(&id) else { continue };
        let index = packed.count;
        packed.count += 1;
        let place = match node.file {
            Some(file) => {
                let place = *places.entry((file, node.line)).or_insert_with(|| {
                    packed.places.push((file, node.line));
                    packed.places.len()
                });
                place as u64
            }
            None => 0,
        };
        let step = i64::from(id) - before;
        before = i64::from(id);
        let out = &mut packed.bytes;
        varint(out, parent.map_or(0, |p| index - p) as u64);
        varint(out, (step << 1 ^ step >> 63) as u64);
        varint(out, node.status as u64 | u64::from(node.tainted) << 3);
        varint(out, place);
        varint(out, node.test.map_or(0, |t| u64::from(t.0)));
        let below = children.remove(&id).unwrap_or_default();
        stack.extend(below.into_iter().rev().map(|c| (c, Some(index))));
    }
    packed
}

fn varint(out: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_report::{NodeStatus, TreeNode};

    #[test]
    fn preorder_with_distances() {
        let node = |id: u32, parent: Option<u32>, line| TreeNode {
            id,
            parent,
            status: NodeStatus::Inner,
            tainted: id == 3,
            file: Some(0),
            line,
            test: None,
        };
        let nodes = [node(0, None, 1), node(1, Some(0), 2), node(2, Some(0), 2), node(3, Some(1), 7)];
        let tree = TreeReader {
            files: vec!["a.c".into()],
            nodes: nodes.into_iter().map(|n| (n.id, n)).collect(),
            ..TreeReader::default()
        };
        let packed = pack(&tree);
        assert_eq!(packed.places, [(0, 1), (0, 2), (0, 7)]);
        // 0, 1 below it, 3 below that, and 2, whose parent is three back.
        assert_eq!(packed.bytes, [0, 0, 1, 1, 0, 1, 2, 1, 2, 0, 1, 4, 9, 3, 0, 3, 1, 1, 2, 0]);
    }

    #[test]
    fn a_parent_that_is_not_there() {
        let lost = TreeNode {
            id: 5,
            parent: Some(2),
            status: NodeStatus::Cut,
            tainted: false,
            file: None,
            line: 0,
            test: None,
        };
        let packed = pack(&TreeReader { nodes: [(5, lost)].into(), ..TreeReader::default() });
        assert_eq!((packed.count, packed.bytes.as_slice()), (1, &[0, 10, 4, 0, 0][..]));
    }
}
