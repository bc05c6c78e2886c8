//! Up to where the graph goes, and what it has.

use crate::clock::Clock;

/// What is known where the entry is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Context {
    /// The program starts: globals have their initial values, pointers of the input point to objects of their type.
    Start,
    /// Somewhere in an execution: globals have any value, pointers may point to anything.
    Anywhere,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Loops {
    /// At most this many iterations each.
    Unwind(u32),
    /// One pass from any state.
    Havoc,
}

#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub loops: Loops,
    /// calls inside calls that are inlined
    pub inline: u32,
    /// calls on the way to a goal that do not count for `inline`
    pub climb: u32,
    pub context: Context,
    /// what is not built by then is cut
    pub clock: Clock,
    /// nodes
    pub nodes: usize,
    pub detail: Detail,
    pub goals: Goals,
}

/// Which places of the goals count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Goals {
    /// all; an execution ends at a goal that only has to be reached
    Anywhere,
    /// those in the entry itself, and execution goes on beyond each
    InEntry,
}

/// What a node is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Detail {
    /// a piece of a block
    Blocks,
    /// an access or an allocation, with what follows it: the paper's nodes
    Operations,
}
