//! Names of C++ and Rust as people write them.

/// The text with each mangled name in it demangled; words that are none stay as they are.
pub fn readable(text: &str) -> String {
    if !text.contains("_Z") && !text.contains("_R") {
        return text.to_owned();
    }
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        out.push_str(&demangle(word));
        let end = after.find(is_name).unwrap_or(after.len());
        let (between, after) = after.split_at(end);
        out.push_str(between);
        rest = after;
    }
    out
}

/// Rust's names first: those of its old scheme are valid C++ names, too, with a hash at their end.
fn demangle(word: &str) -> String {
    if !word.starts_with("_Z") && !word.starts_with("_R") {
        return word.to_owned();
    }
    if let Ok(name) = rustc_demangle::try_demangle(word) {
        return format!("{name:#}");
    }
    let name =
        cpp_demangle::Symbol::new(word).ok().and_then(|s| s.demangle(&cpp_demangle::DemangleOptions::default()).ok());
    name.unwrap_or_else(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_three_languages() {
        assert_eq!(
            readable("read of `main::x` in _ZN3foo3barEi (line 3)"),
            "read of `main::x` in foo::bar(int) (line 3)"
        );
        assert_eq!(readable("_ZN4core9panicking5panic17h0123456789abcdefE"), "core::panicking::panic");
        assert_eq!(readable("_RNvCs1234_7mycrate3foo"), "mycrate::foo");
        for plain in ["", "main", "_Zebra", "_Read", "a _Z b", "_"] {
            assert_eq!(readable(plain), plain);
        }
    }
}
