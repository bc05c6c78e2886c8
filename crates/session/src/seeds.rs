//! Seeds from files: tests, the corpus of a fuzzer, the directory by which instances of AFL++ exchange inputs.

use pleach_command::CliError;
use pleach_exec::Seed;
use pleach_report::KTest;
use std::path::{Path, PathBuf};

/// The name of Pleach's own directory among those of AFL++'s instances.
pub const INSTANCE: &str = "pleach";

/// Every file of the directory, by name. A `.ktest` file gives the inputs by name, others the bytes.
pub fn read(directory: &Path) -> Result<Vec<Seed>, CliError> {
    files(directory)?.iter().map(|path| seed(path)).collect()
}

/// What the other instances have in their queues. A directory that is not there yet has nothing.
pub fn read_afl(directory: &Path) -> Result<Vec<Seed>, CliError> {
    let mut all = Vec::new();
    for instance in entries(directory).unwrap_or_default() {
        let queue = instance.join("queue");
        if instance.file_name().is_some_and(|n| n != INSTANCE) && queue.is_dir() {
            let inputs = files(&queue)?;
            let inputs =
                inputs.iter().filter(|p| p.file_name().is_some_and(|n| n.as_encoded_bytes().starts_with(b"id:")));
            for path in inputs {
                all.push(seed(path)?);
            }
        }
    }
    Ok(all)
}

fn seed(path: &Path) -> Result<Seed, CliError> {
    let failed = |why: String| CliError::Usage(format!("cannot read the seed {}: {why}", path.display()));
    let bytes = pleach_load::regular::read(path).map_err(|why| failed(why.to_string()))?;
    if path.extension().is_none_or(|e| e != "ktest") {
        return Ok(Seed::Bytes(bytes));
    }
    let test = KTest::from_bytes(&bytes).map_err(|why| failed(why.to_string()))?;
    Ok(Seed::Objects(test.objects.into_iter().map(|o| (o.name, o.bytes)).collect()))
}

fn files(directory: &Path) -> Result<Vec<PathBuf>, CliError> {
    let all = entries(directory).map_err(|why| CliError::Usage(format!("{}: {why}", directory.display())))?;
    Ok(all.into_iter().filter(|p| p.is_file()).collect())
}

fn entries(directory: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut all = std::fs::read_dir(directory)?.map(|e| Ok(e?.path())).collect::<std::io::Result<Vec<_>>>()?;
    all.sort();
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_of_others_are_seeds() {
        let place = std::env::temp_dir().join(format!("pleach-seeds-{}", std::process::id()));
        for (instance, name, bytes) in
            [("main", "id:000001,src:0", "b"), ("main", "id:000000", "a"), (INSTANCE, "id:000000", "own")]
        {
            std::fs::create_dir_all(place.join(instance).join("queue/.state")).unwrap();
            std::fs::write(place.join(instance).join("queue").join(name), bytes).unwrap();
        }
        std::fs::write(place.join("main/queue/README"), "no input").unwrap();
        let found = read_afl(&place).unwrap();
        assert_eq!(found, [Seed::Bytes(b"a".to_vec()), Seed::Bytes(b"b".to_vec())]);
        assert!(read(&place.join("nothing")).is_err() && read_afl(&place.join("nothing")).unwrap().is_empty());
        std::fs::write(place.join("main/queue/x.ktest"), "rubbish").unwrap();
        assert!(read(&place.join("main/queue")).is_err());
        std::fs::remove_dir_all(&place).unwrap();
    }
}
