//! Textual IR of newer compilers: what they add for their optimiser and our reader does not know is left out.
//!
//! *Direction*: these are promises about parameters and comparisons that the engine does not use.

/// Attributes that take an argument in parentheses.
const WITH_ARGUMENT: &[&str] = &["captures", "initializes"];
/// Plain ones.
const PLAIN: &[&str] = &["samesign", "dead_on_return", "nocreateundeforpoison", "nofreeobj"];

/// The text without them; outside of quotes only.
pub(crate) fn without_newer_attributes(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut i = 0;
    let mut quoted = false;
    while i < text.len() {
        let b = text[i];
        quoted ^= b == b'"';
        if b == b' ' && !quoted {
            let word = word_at(text, i + 1);
            let end = i + 1 + word.len();
            if WITH_ARGUMENT.iter().any(|w| w.as_bytes() == word) && text.get(end) == Some(&b'(') {
                i = closing(text, end);
                continue;
            }
            if PLAIN.iter().any(|w| w.as_bytes() == word) {
                i = end;
                continue;
            }
        }
        out.push(b);
        i += 1;
    }
    out
}

fn word_at(text: &[u8], at: usize) -> &[u8] {
    let rest = text.get(at..).unwrap_or_default();
    let len = rest.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
    &rest[..len]
}

/// Behind the parenthesis that closes the one at `at`.
fn closing(text: &[u8], at: usize) -> usize {
    let mut depth = 0;
    for (i, b) in text.iter().enumerate().skip(at) {
        match b {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return i + 1;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::without_newer_attributes;

    #[test]
    fn only_what_is_newer_goes() {
        let gives = |a: &str, b: &str| assert_eq!(without_newer_attributes(a.as_bytes()), b.as_bytes());
        gives("declare void @f(ptr captures(none) %p)", "declare void @f(ptr %p)");
        gives("ptr initializes((0, 8), (16, 24)) align 8", "ptr align 8");
        gives("%c = icmp samesign ult i32 %a, %b", "%c = icmp ult i32 %a, %b");
        gives("c\" captures(none) \"", "c\" captures(none) \"");
    }
}
