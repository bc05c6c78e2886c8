//! Test-Comp suites, test-format 1.1: `metadata.xml` and one XML file per test.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use crate::input::InputType;
use crate::json::to_hex;
use crate::model::TestCase;
use crate::value;

const DECLARATION: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="no"?>"#;

fn doctype(root: &str, file: &str) -> String {
    format!(
        "<!DOCTYPE {root} PUBLIC \"+//IDN sosy-lab.org//DTD test-format {root} 1.1//EN\" \
         \"https://sosy-lab.org/test-format/{file}-1.1.dtd\">"
    )
}

/// Contents of `metadata.xml`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SuiteMetadata {
    /// Name and version of the tool.
    pub producer: String,
    /// The property, for instance `COVER( init(main()), FQL(COVER EDGES(@DECISIONEDGE)) )`.
    pub specification: String,
    /// The program's file.
    pub program_file: String,
    /// SHA-256 of the program's file, see [`program_hash`].
    pub program_hash: String,
    /// Entry function.
    pub entry: String,
    /// `32bit` or `64bit`.
    pub architecture: String,
    /// ISO 8601 time; a constant keeps the file's bytes equal between runs.
    pub creation_time: String,
}

/// SHA-256 in hexadecimal.
pub fn program_hash(contents: &[u8]) -> String {
    to_hex(&Sha256::digest(contents))
}

/// `metadata.xml`.
pub fn metadata(meta: &SuiteMetadata) -> String {
    let mut out = format!("{DECLARATION}\n{}\n<test-metadata>\n", doctype("test-metadata", "test-metadata"));
    for (tag, text) in [
        ("sourcecodelang", "C"),
        ("producer", &meta.producer),
        ("specification", &meta.specification),
        ("programfile", &meta.program_file),
        ("programhash", &meta.program_hash),
        ("entryfunction", &meta.entry),
        ("architecture", &meta.architecture),
        ("creationtime", &meta.creation_time),
    ] {
        let _ = writeln!(out, "  <{tag}>{}</{tag}>", escape(text));
    }
    out.push_str("</test-metadata>\n");
    out
}

/// One test: an `input` element per scalar, in the order the program asks for them.
pub fn testcase(test: &TestCase) -> String {
    let mut out = format!("{DECLARATION}\n{}\n<testcase>\n", doctype("testcase", "testcase"));
    for input in &test.inputs {
        for leaf in input.leaves() {
            let _ = writeln!(
                out,
                "  <input variable=\"{}\" type=\"{}\">{}</input>",
                escape(&leaf.path),
                escape(&scalar_spelling(&leaf.ty)),
                escape(&value::scalar(&leaf.ty, leaf.bytes)),
            );
        }
    }
    out.push_str("</testcase>\n");
    out
}

fn scalar_spelling(ty: &InputType) -> String {
    match ty {
        InputType::Bool => "bool".into(),
        other => other.spelling(),
    }
}

/// XML 1.0 text; characters that XML cannot hold become U+FFFD.
/// Text for an element or an attribute; what XML cannot have is replaced.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => {
                let _ = write!(out, "&#{};", c as u32);
            }
            '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::{Field, Input, InputOrigin};
    use crate::model::{Prediction, TestId};

    fn test(inputs: Vec<Input>) -> TestCase {
        TestCase {
            id: TestId(1),
            inputs,
            predicted: Prediction::Exit { code: Some(0) },
            covers_new: true,
            given: false,
            path: 0,
            instructions: 0,
            args: vec![],
        }
    }

    #[test]
    fn scalars_in_order() {
        let point = InputType::Struct {
            name: "struct p".into(),
            size: 8,
            fields: vec![
                Field { name: "c".into(), offset: 0, ty: InputType::char() },
                Field { name: "n".into(), offset: 4, ty: InputType::int() },
            ],
        };
        let xml = testcase(&test(vec![
            Input {
                name: "__VERIFIER_nondet_int".into(),
                ty: InputType::int(),
                bytes: vec![0xff; 4],
                origin: InputOrigin::Nondet,
            },
            Input {
                name: "a<b".into(),
                ty: point,
                bytes: vec![65, 9, 9, 9, 7, 0, 0, 0],
                origin: InputOrigin::MakeSymbolic,
            },
        ]));
        assert_eq!(
            xml,
            "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n\
             <!DOCTYPE testcase PUBLIC \"+//IDN sosy-lab.org//DTD test-format testcase 1.1//EN\" \
             \"https://sosy-lab.org/test-format/testcase-1.1.dtd\">\n\
             <testcase>\n  <input variable=\"__VERIFIER_nondet_int\" type=\"int\">-1</input>\n  \
             <input variable=\"a&lt;b.c\" type=\"char\">65</input>\n  \
             <input variable=\"a&lt;b.n\" type=\"int\">7</input>\n</testcase>\n"
        );
    }

    #[test]
    fn metadata_is_escaped_and_complete() {
        let meta = SuiteMetadata { specification: "G ! call(a && \"b\" < 'c')\u{1}".into(), ..Default::default() };
        let xml = metadata(&meta);
        assert!(xml.contains("G ! call(a &amp;&amp; &quot;b&quot; &lt; 'c')\u{fffd}"), "{xml}");
        assert!(xml.contains("test-format test-metadata 1.1//EN"));
        assert_eq!(xml.matches("</").count(), 9);
    }

    #[test]
    fn hash_is_sha256() {
        assert!(program_hash(b"abc").starts_with("ba7816bf8f01cfea"));
    }
}
