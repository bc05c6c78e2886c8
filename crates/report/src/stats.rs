//! `stats.db`: counters over time, in SQLite.
//!
//! Rows are inserted in batches. The write-ahead log keeps every finished batch when the process is killed.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::error::Result;

const FLUSH_EVERY: Duration = Duration::from_millis(500);
const FLUSH_ROWS: usize = 1024;

macro_rules! columns {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// One sample.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct StatsRow {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl StatsRow {
            /// Column names of table `stats`.
            pub const COLUMNS: &'static [&'static str] = &[$(stringify!($name),)*];

            // SQLite integers are signed; a counter beyond their range stays at the largest.
            fn values(&self) -> Vec<i64> {
                vec![$(i64::try_from(self.$name).unwrap_or(i64::MAX),)*]
            }

            fn from_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<StatsRow> {
                Ok(StatsRow { $($name: row.get::<_, i64>(stringify!($name))?.max(0) as u64,)* })
            }
        }
    };
}

columns! {
    /// Time since the start.
    elapsed_us,
    /// Instructions executed.
    instructions,
    /// Paths ended.
    paths,
    /// Errors found.
    errors,
    /// States alive.
    states,
    /// Lines covered.
    covered_lines,
    /// Branch directions covered.
    covered_branches,
    /// Queries that reached the chain.
    queries,
    /// Queries that reached a back end.
    backend_queries,
    /// Time in the chain.
    solver_time_us,
    /// Memory in use.
    memory_bytes,
    /// Forks.
    forks,
    /// Paths cut.
    cut,
    /// Paths pruned.
    pruned,
    /// Tests written.
    tests,
}

/// Appends samples.
pub struct StatsWriter {
    db: Connection,
    pending: Vec<StatsRow>,
    flushed: Instant,
}

impl StatsWriter {
    /// Opens or creates the database.
    pub fn create(path: &Path) -> Result<Self> {
        let db = Connection::open(path)?;
        // SAFE TO KILL: without fsync a power cut may lose samples, an ended process does not.
        db.pragma_update(None, "journal_mode", "WAL")?;
        db.pragma_update(None, "synchronous", "OFF")?;
        let columns = StatsRow::COLUMNS.join(" INTEGER NOT NULL, ");
        db.execute_batch(&format!("CREATE TABLE IF NOT EXISTS stats ({columns} INTEGER NOT NULL)"))?;
        Ok(Self { db, pending: Vec::new(), flushed: Instant::now() })
    }

    /// Adds a sample; on disk within half a second of the next call, or at [`Self::flush`].
    pub fn push(&mut self, row: &StatsRow) -> Result<()> {
        self.pending.push(*row);
        if self.pending.len() >= FLUSH_ROWS || self.flushed.elapsed() >= FLUSH_EVERY {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes what is pending.
    pub fn flush(&mut self) -> Result<()> {
        self.flushed = Instant::now();
        if self.pending.is_empty() {
            return Ok(());
        }
        let columns = StatsRow::COLUMNS.join(", ");
        let marks = vec!["?"; StatsRow::COLUMNS.len()].join(", ");
        let transaction = self.db.transaction()?;
        {
            let mut insert = transaction.prepare(&format!("INSERT INTO stats ({columns}) VALUES ({marks})"))?;
            for row in &self.pending {
                insert.execute(rusqlite::params_from_iter(row.values()))?;
            }
        }
        transaction.commit()?;
        self.pending.clear();
        Ok(())
    }
}

impl Drop for StatsWriter {
    fn drop(&mut self) {
        let _ = self.flush();
    }
}

/// All samples in order.
pub fn read(path: &Path) -> Result<Vec<StatsRow>> {
    let db = Connection::open_with_flags(path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut select = db.prepare("SELECT * FROM stats ORDER BY rowid")?;
    let rows = select.query_map([], StatsRow::from_row)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Samples up to where the database is damaged, and what is wrong there.
pub fn read_damaged(path: &Path) -> (Vec<StatsRow>, Option<String>) {
    let mut rows = Vec::new();
    let mut go = || -> rusqlite::Result<()> {
        let db = Connection::open_with_flags(path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let mut select = db.prepare("SELECT * FROM stats ORDER BY rowid")?;
        for row in select.query_map([], StatsRow::from_row)? {
            rows.push(row?);
        }
        Ok(())
    };
    let damage = go().err().map(|why| why.to_string());
    (rows, damage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_read_back_also_while_the_writer_lives() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("stats.db");
        let mut writer = StatsWriter::create(&path).unwrap();
        for i in 0..3000 {
            writer.push(&StatsRow { elapsed_us: i, memory_bytes: u64::MAX, ..Default::default() }).unwrap();
        }
        assert!(read(&path).unwrap().len() >= 2048);
        writer.flush().unwrap();
        let rows = read(&path).unwrap();
        assert_eq!(rows.len(), 3000);
        assert_eq!(rows[2999].elapsed_us, 2999);
        assert_eq!(rows[0].memory_bytes, i64::MAX as u64);
    }

    #[test]
    fn not_a_database_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("stats.db");
        std::fs::write(&path, vec![b'x'; 8192]).unwrap();
        assert!(read(&path).is_err());
        assert!(StatsWriter::create(&path).is_err());
    }
}
