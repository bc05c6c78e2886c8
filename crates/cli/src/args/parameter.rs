//! `--param NAME:WHAT`: what a pointer parameter of the entry points to.

use pleach_exec::{ParameterSpec, Pointee, Size};

/// For `NAME[len]` without a bound.
const MAX_COUNTED: u64 = 8;
const SHAPES: &str = "`object`, `[4]`, `[len]`, `bytes[16]`, `bytes[len]`, `bytes[len<=16]`, `string[16]` or `null`; \
                      a `?` after it adds null";

pub fn parse(text: &str) -> Result<ParameterSpec, String> {
    let wrong = || format!("write NAME:WHAT, where WHAT is {SHAPES}");
    let (name, what) = text.split_once(':').ok_or_else(wrong)?;
    let (what, nullable) = what.strip_suffix('?').map_or((what, false), |w| (w, true));
    if name.is_empty() {
        return Err(wrong());
    }
    let pointee = match what.split_once('[') {
        None if what == "null" => Pointee::Null,
        None if what == "object" => Pointee::Elements(Size::Exactly(1)),
        Some((shape, rest)) => {
            let size = size(rest.strip_suffix(']').ok_or_else(wrong)?).ok_or_else(wrong)?;
            match (shape, size) {
                ("", size) => Pointee::Elements(size),
                ("bytes", size) => Pointee::Bytes(size),
                ("string", Size::Exactly(n)) => Pointee::String(n),
                _ => return Err(wrong()),
            }
        }
        None => return Err(wrong()),
    };
    Ok(ParameterSpec { name: name.to_owned(), pointee, nullable })
}

/// `16`, `len` or `len<=16`.
fn size(text: &str) -> Option<Size> {
    if let Ok(n) = text.parse() {
        return Some(Size::Exactly(n));
    }
    let (by, most) = text.split_once("<=").map_or((text, Some(MAX_COUNTED)), |(by, n)| (by, n.parse().ok()));
    let is_name = !by.is_empty() && by.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    // One initial state for each count.
    let most = most.filter(|n| is_name && *n < 1024)?;
    Some(Size::Counted { by: by.to_owned(), most })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_parameter_is() {
        let pointee = |text: &str| parse(text).map(|p| p.pointee);
        assert_eq!(pointee("p:null"), Ok(Pointee::Null));
        assert_eq!(pointee("p:object"), Ok(Pointee::Elements(Size::Exactly(1))));
        assert_eq!(pointee("p:[4]"), Ok(Pointee::Elements(Size::Exactly(4))));
        assert_eq!(pointee("s:string[16]"), Ok(Pointee::String(16)));
        assert_eq!(pointee("b:bytes[len<=3]"), Ok(Pointee::Bytes(Size::Counted { by: "len".into(), most: 3 })));
        let optional = parse("b:bytes[n]?");
        assert!(optional.is_ok_and(|p| p.nullable && p.name == "b"));
        for bad in ["p", "p:", ":null", "p:int", "p:bytes[", "p:bytes[]", "p:string[n]", "p:[n<=]", "p:[n<=9999]"] {
            assert!(parse(bad).is_err_and(|why| why.contains("NAME:WHAT")), "{bad}");
        }
    }
}
