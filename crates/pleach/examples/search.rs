//! A search strategy and an observer of one's own: the newest state first, until the first error.
//!
//! `cargo run --example search -- FILE.c`

use pleach::state::seams::{Searcher, View};
use pleach::state::{Cut, End, StateId};
use pleach::{CompileOptions, Engine, Observer, PathEnd};
use std::rc::Rc;

/// The state that came last.
#[derive(Default)]
struct NewestFirst(Vec<StateId>);

impl Searcher for NewestFirst {
    fn select(&mut self, _: View) -> Option<StateId> {
        self.0.last().copied()
    }
    fn update(&mut self, _: Option<StateId>, added: &[StateId], removed: &[StateId], _: View) {
        self.0.retain(|s| !removed.contains(s));
        self.0.extend(added);
    }
    fn name(&self) -> String {
        "newest-first".into()
    }
}

/// Counts paths, and stops at the first error.
#[derive(Default)]
struct FirstError {
    paths: u32,
    error: Option<String>,
}

impl Observer for FirstError {
    fn path_ended(&mut self, path: PathEnd) {
        self.paths += 1;
        if let End::Error(error) = path.end {
            self.error.get_or_insert(error.message.clone());
        }
    }
    fn stop(&mut self) -> Option<Cut> {
        self.error.as_ref().map(|_| Cut::Stopped("the first error is enough".into()))
    }
}

fn main() -> Result<(), pleach::Error> {
    let file = std::env::args().nth(1).unwrap_or_else(|| "examples/regexp.c".into());
    let program = Rc::new(pleach::load(&[file], &CompileOptions::default())?);
    let mut observer = FirstError::default();
    let engine = Engine::builder(program).searcher(Box::new(NewestFirst::default())).check_seams(true);
    let found = engine.observe(&mut observer)?;
    match observer.error {
        Some(message) => println!("after {} paths: {message}", observer.paths),
        None => println!("no error in {} paths ({:?})", observer.paths, found.verdict),
    }
    Ok(())
}
