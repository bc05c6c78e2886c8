//! Rounds of bounded loops, backward: a state that has as many rounds left or fewer is cut where the recorded path was.
//!
//! *Idea*: `--unwind N` makes the number of rounds a part of the state. A path that was cut at the bound needs that its
//! loop went round at least as often; the edge back to the header counts one round, the edge into the loop none.
//! *Invariant*: from a state that satisfies the result, the recorded edges lead to a state that satisfies the condition
//! given, or the path is cut before. Whatever is cut earlier reaches less. *Direction*: gives up where the recorded
//! path entered the loop with fewer rounds than are needed, which its own state rules out.

use crate::condition::Rounds;
use crate::transformer::{NoInterpolant, WpResult, WpTransformer};
use pleach_ir::cfg::block_of;
use pleach_ir::{BlockId, Edge, Function, InstId};
use pleach_state::trace::Run;

impl WpTransformer<'_> {
    /// Back over these edges, one after the other, of which the first leaves the block that the run ends.
    pub(crate) fn cross_rounds(&mut self, f: &Function, run: Run, way: &[Edge]) -> WpResult<()> {
        if self.condition.rounds.is_empty() {
            return Ok(());
        }
        let first = block_of(f, InstId(run.to - 1)).ok_or(NoInterpolant::TraceMismatch)?;
        for (i, edge) in way.iter().enumerate().rev() {
            let from = if i == 0 { first } else { way[i - 1].target };
            self.cross_round(f, run, from, edge.target)?;
        }
        Ok(())
    }

    fn cross_round(&mut self, f: &Function, run: Run, from: BlockId, to: BlockId) -> WpResult<()> {
        let here = |r: &Rounds| (r.depth, r.header) == (run.depth, to);
        let Some(at) = self.condition.rounds.iter().position(here) else { return Ok(()) };
        match &self.locs.loop_bodies(run.func, f)[to.index()] {
            Some(body) if body.contains(from.index()) => {
                let needed = &mut self.condition.rounds[at];
                needed.at_least -= 1;
                if needed.at_least == 0 {
                    self.condition.rounds.swap_remove(at);
                }
                Ok(())
            }
            // SOUND: no round was made when the loop was entered, so the need is not met here.
            _ => Err(NoInterpolant::RoundsNotMade),
        }
    }

    /// Back before the call that made the frame: it has made no rounds.
    pub(crate) fn no_rounds_in(&self, depth: u32) -> WpResult<()> {
        let made = self.condition.rounds.iter().any(|r| r.depth >= depth);
        if made { Err(NoInterpolant::RoundsNotMade) } else { Ok(()) }
    }
}
