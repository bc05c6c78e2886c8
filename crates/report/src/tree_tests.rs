use super::*;

fn leaf(id: u32, parent: Option<u32>, status: NodeStatus, file: &str, test: Option<TestId>) -> TreeNode<&str> {
    TreeNode { id, parent, status, tainted: id == 2, file, line: id + 10, test }
}

fn sample(path: &Path) {
    let mut writer = TreeWriter::create(path).unwrap();
    writer.write(&leaf(0, None, NodeStatus::Live, "", None)).unwrap();
    writer.write(&leaf(1, Some(0), NodeStatus::Completed, "a.c", Some(TestId(1)))).unwrap();
    writer.write(&leaf(2, Some(0), NodeStatus::Cut, "b\".c", None)).unwrap();
    writer.write(&leaf(0, None, NodeStatus::Inner, "a.c", None)).unwrap();
    writer.flush().unwrap();
}

#[test]
fn last_status_counts() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tree.bin");
    sample(&path);
    let tree = TreeReader::open(&path).unwrap();
    assert_eq!(tree.nodes.len(), 3);
    assert_eq!(tree.nodes[&0].status, NodeStatus::Inner);
    assert_eq!(tree.file(&tree.nodes[&0]), "a.c");
    assert_eq!(tree.nodes[&1].test, Some(TestId(1)));
    assert!(tree.nodes[&2].tainted);
    let dot = tree.to_dot(None, &|_| Vec::new());
    assert!(dot.contains("n0 -> n2;") && dot.contains("b\\\".c:12"), "{dot}");
}

#[test]
fn truncation_loses_only_the_tail() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tree.bin");
    sample(&path);
    let bytes = std::fs::read(&path).unwrap();
    let mut seen = 0;
    for n in 8..=bytes.len() {
        let nodes = TreeReader::from_bytes(&bytes[..n]).unwrap().nodes.len();
        assert!(nodes >= seen);
        seen = nodes;
    }
    assert!(TreeReader::from_bytes(b"PLTREE").is_err());
    let mut bad = bytes.clone();
    bad[8] = 77;
    assert!(TreeReader::from_bytes(&bad).is_err());
}

#[test]
fn many_nodes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tree.bin");
    let mut writer = TreeWriter::create(&path).unwrap();
    for id in 0..300_000 {
        let file = if id % 3 == 0 { "a.c" } else { "b.c" };
        writer.write(&leaf(id, id.checked_sub(1), NodeStatus::Inner, file, None)).unwrap();
    }
    writer.flush().unwrap();
    assert_eq!(TreeReader::open(&path).unwrap().nodes.len(), 300_000);
}

#[test]
fn merged_leaves_lead_to_one_node() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tree.bin");
    let mut w = TreeWriter::create(&path).unwrap();
    let node = |id, parent, status| TreeNode { id, parent, status, tainted: false, file: "", line: 0, test: None };
    for n in [
        node(0, None, NodeStatus::Inner),
        node(1, Some(0), NodeStatus::Merged),
        node(2, Some(0), NodeStatus::Merged),
        node(3, Some(1), NodeStatus::Completed),
    ] {
        w.write(&n).unwrap();
    }
    w.write_merge(1, 3).unwrap();
    w.write_merge(2, 3).unwrap();
    w.flush().unwrap();
    let tree = TreeReader::open(&path).unwrap();
    assert_eq!((tree.parents(3), tree.parents(1), tree.parents(0)), (vec![1, 2], vec![0], vec![]));
    assert_eq!((tree.children(2), tree.children(0)), (vec![3], vec![1, 2]));
    let dot = tree.to_dot(None, &|_| Vec::new());
    assert!(dot.contains("n1 -> n3 [style=dashed]") && dot.contains("n2 -> n3 [style=dashed]"), "{dot}");
    assert!(!dot.contains("n1 -> n3;"), "one edge each: {dot}");
}
