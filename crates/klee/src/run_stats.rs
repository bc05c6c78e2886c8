//! `run.stats`: what a run cost, in the database that KLEE writes and `klee-stats` reads.

use pleach_command::CliError;
use pleach_exec::Machine;
use rusqlite::Connection;
use std::path::Path;
use std::time::Duration;

/// The row at the end of a run. Times are in microseconds, as KLEE has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunStats {
    pub instructions: u64,
    /// branch directions of the program, and those taken
    pub branches: (u64, u64),
    pub states: u64,
    pub memory: u64,
    pub queries: u64,
    pub solver_queries: u64,
    pub wall: Duration,
    pub user: Duration,
    /// LLVM instructions of the program, and those executed
    pub covered: (u64, u64),
    pub solver: Duration,
}

/// Processor time of this process outside the kernel, in hundredths of a second as the kernel counts it.
pub fn user_time() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in parentheses, may have spaces.
    let fields = text.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks: u64 = fields.split_whitespace().nth(11).and_then(|n| n.parse().ok()).unwrap_or(0);
    Duration::from_millis(10 * ticks)
}

impl RunStats {
    /// Adds what the executor of one run knows.
    pub fn add(&mut self, machine: &Machine) {
        let program = machine.program.clone();
        let mut solver = pleach_smt::Stats::new();
        machine.solver.stats(&mut solver);
        self.instructions += machine.instructions;
        self.queries += solver.get("chain.queries");
        self.solver_queries += solver.get("bitwuzla.queries") + solver.get("z3.queries");
        self.solver += machine.solver_time;
        (self.branches, self.covered) = ((0, 0), (0, 0));
        let coverage = &machine.coverage;
        for (i, function) in program.functions.iter().enumerate().filter(|(i, _)| coverage.counts_for_coverage[*i]) {
            let entered = coverage.blocks[i].iter().map(|n| *n > 0);
            for (weight, entered) in function.block_weight.iter().zip(entered) {
                self.covered.0 += u64::from(*weight);
                self.covered.1 += u64::from(*weight) * u64::from(entered);
            }
            self.branches.0 += coverage.edges[i].len() as u64;
            self.branches.1 += coverage.edges[i].iter().filter(|n| **n > 0).count() as u64;
        }
    }

    fn columns(&self) -> [(&'static str, u64); 17] {
        let (of, taken) = self.branches;
        let micros = |time: Duration| time.as_micros() as u64;
        [
            ("Instructions", self.instructions),
            // As many as give the same share of directions.
            ("FullBranches", taken / 2),
            ("PartialBranches", taken % 2),
            ("NumBranches", of.div_ceil(2)),
            ("UserTime", micros(self.user)),
            ("NumStates", self.states),
            ("MallocUsage", self.memory),
            ("Queries", self.queries),
            ("SolverQueries", self.solver_queries),
            ("NumQueryConstructs", 0),
            ("WallTime", micros(self.wall)),
            ("CoveredInstructions", self.covered.1),
            ("UncoveredInstructions", self.covered.0 - self.covered.1),
            ("QueryTime", micros(self.solver)),
            ("SolverTime", micros(self.solver)),
            ("ForkTime", 0),
            ("InhibitedForks", 0),
        ]
    }

    /// Writes the database into the run's directory.
    pub fn write(&self, directory: &Path) -> Result<(), CliError> {
        let columns = self.columns();
        let names = columns.map(|(name, _)| name).join(", ");
        let declared = columns.map(|(name, _)| format!("{name} INTEGER")).join(", ");
        let values = columns.map(|(_, n)| n.min(i64::MAX as u64).to_string()).join(", ");
        let path = directory.join("run.stats");
        let written = Connection::open(&path).and_then(|db| {
            db.execute_batch(&format!(
                "CREATE TABLE stats ({declared}); INSERT INTO stats ({names}) VALUES ({values});"
            ))
        });
        written.map_err(|why| CliError::Usage(format!("cannot write {}: {why}", path.display())))
    }
}

/// The last row of a run, by column; of KLEE's own, too.
pub fn read(directory: &Path) -> Result<Vec<(String, f64)>, CliError> {
    let path = directory.join("run.stats");
    let failed = |why: rusqlite::Error| CliError::Usage(format!("cannot read {}: {why}", path.display()));
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    let db = Connection::open_with_flags(&path, flags).map_err(failed)?;
    let mut rows = db.prepare("SELECT * FROM stats ORDER BY rowid DESC LIMIT 1").map_err(failed)?;
    let names: Vec<String> = rows.column_names().into_iter().map(str::to_owned).collect();
    let row = rows.query_row([], |row| {
        (0..names.len()).map(|i| Ok((names[i].clone(), row.get::<_, f64>(i)?))).collect::<rusqlite::Result<Vec<_>>>()
    });
    row.map_err(failed)
}
