//! Paths in JSON: text where they are text, else the list of their bytes.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Text(String),
    Bytes(Vec<u8>),
}

impl From<&Path> for Written {
    fn from(path: &Path) -> Written {
        match path.to_str() {
            Some(text) => Written::Text(text.to_owned()),
            None => Written::Bytes(path.as_os_str().as_bytes().to_vec()),
        }
    }
}

impl From<Written> for PathBuf {
    fn from(written: Written) -> PathBuf {
        match written {
            Written::Text(text) => text.into(),
            Written::Bytes(bytes) => OsString::from_vec(bytes).into(),
        }
    }
}

/// For `serde(with)`: one path.
pub(crate) mod one {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(path: &Path, s: S) -> Result<S::Ok, S::Error> {
        Written::from(path).serialize(s)
    }
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<PathBuf, D::Error> {
        Written::deserialize(d).map(Into::into)
    }
}

/// For `serde(with)`: several.
pub(crate) mod list {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(paths: &[PathBuf], s: S) -> Result<S::Ok, S::Error> {
        s.collect_seq(paths.iter().map(|p| Written::from(p.as_path())))
    }
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<PathBuf>, D::Error> {
        Ok(Vec::<Written>::deserialize(d)?.into_iter().map(Into::into).collect())
    }
}

#[cfg(test)]
mod tests {
    use crate::runinfo::RunInfo;
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    #[test]
    fn any_path_reads_back() {
        let odd = OsString::from_vec(b"a\xff\xfe.c".to_vec());
        let info =
            RunInfo { sources: vec!["b.c".into(), odd.clone().into()], directory: odd.into(), ..RunInfo::default() };
        let text = serde_json::to_string(&info).unwrap();
        assert!(text.contains("\"b.c\""), "{text}");
        assert_eq!(serde_json::from_str::<RunInfo>(&text).unwrap(), info);
    }
}
