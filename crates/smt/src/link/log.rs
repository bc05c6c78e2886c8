//! Every query that gets here, in SMT-LIB, one after the other in one file, each with its answer as a comment.

use crate::answer::Answer;
use crate::error::SmtError;
use crate::query::{Query, Solver};
use crate::stats::Stats;
use pleach_expr::Terms;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

pub struct Log<S> {
    next: S,
    path: PathBuf,
    file: Option<BufWriter<File>>,
    written: u64,
    failed: u64,
}

impl<S: Solver> Log<S> {
    pub fn new(path: PathBuf, next: S) -> Log<S> {
        Log { next, path, file: None, written: 0, failed: 0 }
    }

    fn write(&mut self, terms: &Terms, query: &Query, answer: Option<&Answer>) -> Result<(), SmtError> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(BufWriter::new(File::create(&self.path)?)),
        };
        match answer {
            None => {
                writeln!(file, "; query {}\n(reset)", self.written)?;
                file.write_all(terms.smtlib(query.constraints).as_bytes())?;
            }
            Some(answer) => {
                writeln!(file, "; answer {}\n", answer.verdict())?;
                self.written += 1;
            }
        }
        // A query that never ends must be in the file.
        file.flush()?;
        Ok(())
    }
}

impl<S: Solver> Solver for Log<S> {
    fn check(&mut self, terms: &mut Terms, query: &Query) -> Answer {
        let before = self.write(terms, query, None);
        let answer = self.next.check(terms, query);
        let after = self.write(terms, query, Some(&answer));
        if before.and(after).is_err() {
            self.failed += 1;
        }
        answer
    }

    fn stats(&self, out: &mut Stats) {
        out.add("log.written", self.written);
        out.add("log.failed", self.failed);
        self.next.stats(out);
    }
}
