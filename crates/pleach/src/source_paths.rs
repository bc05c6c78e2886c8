//! Paths of sources as people read them.

use std::path::Path;

/// Paths below `directory` as relative to it: shorter, and the same on every machine.
pub fn relative<'a>(path: &'a str, directory: &Path) -> &'a str {
    let rest = Path::new(path).strip_prefix(directory).ok().and_then(Path::to_str);
    rest.filter(|r| !r.is_empty()).unwrap_or(path)
}
