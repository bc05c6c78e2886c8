//! `tree.bin`: the execution tree, append-only.
//!
//! After the header come records: a file name (tag 1: u16 length, bytes; numbered from 0 in order) or a node
//! (tag 2: 22 bytes, little endian), or that a leaf went into a merged node (tag 3: both numbers, u32). A node may be
//! written again when its status changes; the last one counts.
//! A record cut off at the end, as after a kill, is ignored.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::{ReportError, Result};
use crate::model::TestId;

const HEADER: &[u8; 8] = b"PLTREE1\n";
const FILE: u8 = 1;
const NODE: u8 = 2;
const MERGE: u8 = 3;
const NODE_BYTES: usize = 22;
const MERGE_BYTES: usize = 8;
const NONE: u32 = u32::MAX;

/// Where a node stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum NodeStatus {
    /// Still to be explored.
    Live = 0,
    /// Has children.
    Inner = 1,
    /// Ended normally.
    Completed = 2,
    /// Ended in an error.
    Errored = 3,
    /// Given up.
    Cut = 4,
    /// Proved redundant.
    Pruned = 5,
    /// Continues in another node.
    Merged = 6,
}

impl NodeStatus {
    const ALL: [NodeStatus; 7] = [
        NodeStatus::Live,
        NodeStatus::Inner,
        NodeStatus::Completed,
        NodeStatus::Errored,
        NodeStatus::Cut,
        NodeStatus::Pruned,
        NodeStatus::Merged,
    ];

    /// Lower-case name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Inner => "inner",
            Self::Completed => "completed",
            Self::Errored => "errored",
            Self::Cut => "cut",
            Self::Pruned => "pruned",
            Self::Merged => "merged",
        }
    }

    fn colour(self) -> &'static str {
        match self {
            Self::Live => "lightblue",
            Self::Inner => "white",
            Self::Completed => "palegreen",
            Self::Errored => "salmon",
            Self::Cut => "khaki",
            Self::Pruned => "lightgrey",
            Self::Merged => "plum",
        }
    }
}

/// A node as written and read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeNode<S = String> {
    /// Its id.
    pub id: u32,
    /// Its parent; none for the root.
    pub parent: Option<u32>,
    /// Where it stands.
    pub status: NodeStatus,
    /// Whether a path was lost below it.
    pub tainted: bool,
    /// Source file, empty when unknown.
    pub file: S,
    /// 1-based line, 0 when unknown.
    pub line: u32,
    /// Test written for it.
    pub test: Option<TestId>,
}

/// Appends nodes.
pub struct TreeWriter {
    out: BufWriter<File>,
    path: PathBuf,
    files: HashMap<String, u32>,
    /// The file of the previous node: neighbours mostly share it.
    last: Option<(String, u32)>,
}

impl TreeWriter {
    /// Starts a new tree file.
    pub fn create(path: &Path) -> Result<Self> {
        let file = File::create(path).map_err(ReportError::io("create", path))?;
        // Others see by it that the run goes on. Where there are no locks, they do not.
        let _ = file.try_lock();
        let mut out = BufWriter::with_capacity(1 << 18, file);
        out.write_all(HEADER).map_err(ReportError::io("write", path))?;
        Ok(Self { out, path: path.to_owned(), files: HashMap::new(), last: None })
    }

    /// Adds a node, or a new status of one.
    pub fn write(&mut self, node: &TreeNode<&str>) -> Result<()> {
        let file = self.file_index(node.file)?;
        let mut record = [0u8; NODE_BYTES + 1];
        record[0] = NODE;
        record[1..5].copy_from_slice(&node.id.to_le_bytes());
        record[5..9].copy_from_slice(&node.parent.unwrap_or(NONE).to_le_bytes());
        record[9] = node.status as u8;
        record[10] = u8::from(node.tainted);
        record[11..15].copy_from_slice(&file.to_le_bytes());
        record[15..19].copy_from_slice(&node.line.to_le_bytes());
        record[19..23].copy_from_slice(&node.test.map_or(NONE, |t| t.0).to_le_bytes());
        self.out.write_all(&record).map_err(ReportError::io("write", &self.path))
    }

    /// Adds that a leaf went into a merged node.
    pub fn write_merge(&mut self, leaf: u32, into: u32) -> Result<()> {
        let mut record = [0u8; MERGE_BYTES + 1];
        record[0] = MERGE;
        record[1..5].copy_from_slice(&leaf.to_le_bytes());
        record[5..9].copy_from_slice(&into.to_le_bytes());
        self.out.write_all(&record).map_err(ReportError::io("write", &self.path))
    }

    /// Hands everything to the operating system.
    pub fn flush(&mut self) -> Result<()> {
        self.out.flush().map_err(ReportError::io("write", &self.path))
    }

    fn file_index(&mut self, name: &str) -> Result<u32> {
        if name.is_empty() {
            return Ok(NONE);
        }
        if let Some((last, index)) = &self.last
            && last == name
        {
            return Ok(*index);
        }
        let index = match self.files.get(name) {
            Some(index) => *index,
            None => {
                let index = self.files.len() as u32;
                self.files.insert(name.to_owned(), index);
                let bytes = &name.as_bytes()[..name.floor_char_boundary(usize::from(u16::MAX))];
                let mut record = vec![FILE];
                record.extend_from_slice(&(bytes.len() as u16).to_le_bytes());
                record.extend_from_slice(bytes);
                self.out.write_all(&record).map_err(ReportError::io("write", &self.path))?;
                index
            }
        };
        self.last = Some((name.to_owned(), index));
        Ok(index)
    }
}

/// A tree read back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeReader {
    /// File names that nodes refer to.
    pub files: Vec<String>,
    /// Nodes by id; `file` is an index into `files`.
    pub nodes: BTreeMap<u32, TreeNode<Option<u32>>>,
    /// Leaves that went into a merged node, and which.
    pub merged: BTreeMap<u32, u32>,
}

impl TreeReader {
    /// Reads a tree file.
    pub fn open(path: &Path) -> Result<Self> {
        let data = std::fs::read(path).map_err(ReportError::io("read", path))?;
        Self::from_bytes(&data)
    }

    /// Reads the bytes of a tree file.
    pub fn from_bytes(data: &[u8]) -> Result<Self> {
        match Self::up_to_damage(data) {
            (tree, None) => Ok(tree),
            (_, Some(why)) => Err(ReportError::malformed("tree", why)),
        }
    }

    /// Reads a tree file up to where it is damaged, and says what is wrong there.
    pub fn open_damaged(path: &Path) -> Result<(Self, Option<&'static str>)> {
        let data = std::fs::read(path).map_err(ReportError::io("read", path))?;
        Ok(Self::up_to_damage(&data))
    }

    fn up_to_damage(data: &[u8]) -> (Self, Option<&'static str>) {
        let mut tree = Self::default();
        let Some(mut rest) = data.strip_prefix(HEADER) else { return (tree, Some("it does not start with PLTREE1")) };
        let damage = loop {
            match tree.record(rest) {
                Ok(Some(next)) => rest = next,
                Ok(None) => break None,
                Err(why) => break Some(why),
            }
        };
        (tree, damage)
    }

    /// Takes one record; what follows it, or nothing at the end.
    fn record<'a>(&mut self, rest: &'a [u8]) -> std::result::Result<Option<&'a [u8]>, &'static str> {
        let Some((tag, body)) = rest.split_first() else { return Ok(None) };
        match *tag {
            FILE => {
                let Some((len, body)) = body.split_first_chunk::<2>() else { return Ok(None) };
                let Some((name, body)) = body.split_at_checked(usize::from(u16::from_le_bytes(*len))) else {
                    return Ok(None);
                };
                self.files.push(String::from_utf8_lossy(name).into_owned());
                Ok(Some(body))
            }
            NODE => {
                let Some((record, body)) = body.split_first_chunk::<NODE_BYTES>() else { return Ok(None) };
                let node = node(record).ok_or("a node has an unknown status")?;
                if node.file.is_some_and(|f| f as usize >= self.files.len()) {
                    return Err("a node names a file that is not there");
                }
                self.nodes.insert(node.id, node);
                Ok(Some(body))
            }
            MERGE => {
                let Some((record, body)) = body.split_first_chunk::<MERGE_BYTES>() else { return Ok(None) };
                self.merged.insert(number(record, 0), number(record, 4));
                Ok(Some(body))
            }
            _ => Err("a record has an unknown tag"),
        }
    }

    /// The node's file name, empty when unknown.
    pub fn file(&self, node: &TreeNode<Option<u32>>) -> &str {
        node.file.map_or("", |f| &self.files[f as usize])
    }

    /// The nodes above: several for a merged node.
    pub fn parents(&self, id: u32) -> Vec<u32> {
        let leaves: Vec<u32> = self.merged.iter().filter(|(_, into)| **into == id).map(|(leaf, _)| *leaf).collect();
        match leaves.is_empty() {
            true => self.nodes.get(&id).and_then(|n| n.parent).into_iter().collect(),
            false => leaves,
        }
    }

    /// The nodes below: one for a leaf that was merged.
    pub fn children(&self, id: u32) -> Vec<u32> {
        match self.merged.get(&id) {
            Some(into) => vec![*into],
            None => self.nodes.values().filter(|c| c.parent == Some(id)).map(|c| c.id).collect(),
        }
    }

    /// Number of nodes in a state.
    pub fn count(&self, status: NodeStatus) -> usize {
        self.nodes.values().filter(|n| n.status == status).count()
    }

    /// The tree for Graphviz, or the part of it below a node; `note` gives further lines for a node.
    pub fn to_dot(&self, below: Option<u32>, note: &dyn Fn(u32) -> Vec<String>) -> String {
        let escape = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " ");
        let mut shown: BTreeSet<u32> = BTreeSet::new();
        let mut out = String::from("digraph tree {\n  node [shape=box style=filled];\n");
        for node in self.nodes.values() {
            // Parents have smaller ids than their children.
            let inside = node.parent.is_some_and(|p| shown.contains(&p));
            if below.is_some_and(|root| node.id != root && !inside) {
                continue;
            }
            shown.insert(node.id);
            let file = escape(self.file(node));
            let at = if file.is_empty() { String::new() } else { format!("\\n{file}:{}", node.line) };
            let test = node.test.map_or(String::new(), |t| format!("\\n{}", t.stem()));
            let notes: String = note(node.id).iter().map(|l| format!("\\n{}", escape(l))).collect();
            let (id, status) = (node.id, node.status.as_str());
            let colour = node.status.colour();
            let _ = writeln!(out, "  n{id} [label=\"{id} {status}{at}{test}{notes}\" fillcolor={colour}];");
            let into = |p: &u32| self.merged.get(p) == Some(&id);
            if let Some(parent) = node.parent.filter(|p| shown.contains(p) && !into(p)) {
                let _ = writeln!(out, "  n{parent} -> n{id};");
            }
        }
        for (leaf, into) in self.merged.iter().filter(|(leaf, into)| shown.contains(leaf) && shown.contains(into)) {
            let _ = writeln!(out, "  n{leaf} -> n{into} [style=dashed];");
        }
        out.push_str("}\n");
        out
    }
}

fn number(record: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]])
}

fn node(record: &[u8; NODE_BYTES]) -> Option<TreeNode<Option<u32>>> {
    let number = |at: usize| number(record, at);
    let optional = |at: usize| Some(number(at)).filter(|n| *n != NONE);
    Some(TreeNode {
        id: number(0),
        parent: optional(4),
        status: *NodeStatus::ALL.get(usize::from(record[8]))?,
        tainted: record[9] != 0,
        file: optional(10),
        line: number(14),
        test: optional(18).map(TestId),
    })
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
