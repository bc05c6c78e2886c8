//! One object's contents for several members of a merge.
//!
//! *Idea*: pages that all share are left alone. In the others, bytes that differ are chosen between: whole cells where
//! all members have a cell or a number of that width, single bytes elsewhere. Numbers that differ in several bytes of
//! one word are chosen between as a word.

use super::{Background, ByteView, Contents, PAGE};
use crate::merge::{Choice, SpaceConflict};
use crate::value::ObjId;
use pleach_expr::Terms;
use std::rc::Rc;

/// The widest number of concrete bytes.
const WORD: u64 = 8;

impl Contents {
    pub(crate) fn merge(
        members: &[&Contents],
        obj: ObjId,
        terms: &mut Terms,
        choice: &mut dyn Choice,
    ) -> Result<Contents, SpaceConflict> {
        let mut members: Vec<Contents> = members.iter().map(|c| (*c).clone()).collect();
        if members.iter().any(|m| !m.same_backgrounds(&members[0])) {
            members.iter_mut().for_each(|m| m.decide_unwritten(terms, obj));
        }
        if members.iter().any(|m| !m.same_backgrounds(&members[0]) || m.size != members[0].size) {
            return Err(SpaceConflict::Background);
        }
        let mut merged = members[0].clone();
        let pages = members.iter().map(|m| m.pages.len()).max().unwrap_or(0);
        let mut values = Vec::with_capacity(members.len());
        for page in 0..pages {
            let differing = differing_bytes(&members, page);
            let start = (page * PAGE) as u64;
            let mut at = 0;
            while let Some(next) = differing.get(at..).and_then(|rest| rest.iter().position(|d| *d)) {
                let off = start + (at + next) as u64;
                let (from, bytes) = chosen_together(&members, &differing, off);
                values.clear();
                values.extend(members.iter_mut().map(|m| m.read(terms, from, bytes as usize, obj)));
                // What is stored in another form may still be the same.
                if values.iter().any(|v| *v != values[0]) {
                    let v = choice.choose(terms, &values, (bytes * 8) as u16);
                    merged.write(terms, from, bytes as usize, v);
                }
                at = (from + bytes - start) as usize;
            }
        }
        // Reading may have decided what was never written; the bytes that were not read say the same in all.
        if let Some(decided) = members.iter().find(|m| !m.same_backgrounds(&merged)) {
            merged.adopt_backgrounds(decided);
        }
        Ok(merged)
    }

    /// Gives names to the bytes that were never written, if there is one background for all.
    fn decide_unwritten(&mut self, terms: &mut Terms, obj: ObjId) {
        if self.parts.is_none() && self.background == Background::Uninit && self.size > 0 {
            self.decide_background(terms, 0, obj);
        }
    }

    /// A cell that begins here, or all of its bytes are concrete.
    fn has_whole(&self, off: u64, bytes: u64) -> bool {
        match self.view(off) {
            ByteView::Of { bytes: b, index, .. } => index == 0 && u64::from(b) == bytes,
            ByteView::Concrete(_) => bytes <= WORD && self.is_concrete_range(off, bytes),
            ByteView::Background => false,
        }
    }

    fn is_concrete_range(&self, off: u64, bytes: u64) -> bool {
        off + bytes <= self.size && (off..off + bytes).all(|o| matches!(self.view(o), ByteView::Concrete(_)))
    }
}

/// Bytes of a page in which the members are not the same.
fn differing_bytes(members: &[Contents], page: usize) -> Vec<bool> {
    let size = members[0].size - (page * PAGE) as u64;
    let mut differing = vec![false; size.min(PAGE as u64) as usize];
    let first = members[0].pages.get(page).cloned().flatten();
    for m in &members[1..] {
        let other = m.pages.get(page).cloned().flatten();
        let same = match (&first, &other) {
            (Some(a), Some(b)) => Rc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        };
        if same {
            continue;
        }
        for (i, d) in differing.iter_mut().enumerate() {
            let off = (page * PAGE + i) as u64;
            *d = *d || members[0].view(off) != m.view(off);
        }
    }
    differing
}

/// The bytes around a differing one that become one value: where they begin, and how many.
fn chosen_together(members: &[Contents], differing: &[bool], off: u64) -> (u64, u64) {
    let cell = members.iter().find_map(|m| match m.view(off) {
        ByteView::Of { bytes, index, .. } => Some((off - u64::from(index), u64::from(bytes))),
        _ => None,
    });
    if let Some((from, bytes)) = cell {
        return if members.iter().all(|m| m.has_whole(from, bytes)) { (from, bytes) } else { (off, 1) };
    }
    let in_page = |o: u64| differing.get(o as usize % PAGE).copied().unwrap_or(false);
    let run = (off..off + WORD - off % WORD).take_while(|o| in_page(*o)).count() as u64;
    let mut bytes = 1;
    while bytes < run {
        bytes *= 2;
    }
    // As wide as the run, and as aligned as numbers are.
    while bytes <= WORD {
        let from = off - off % bytes;
        if from + bytes >= off + run {
            let all = members.iter().all(|m| m.is_concrete_range(from, bytes));
            return if all { (from, bytes) } else { (off, 1) };
        }
        bytes *= 2;
    }
    (off, 1)
}
