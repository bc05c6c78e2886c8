//! Textual IR of newer compilers: what they add for their optimiser and our reader does not know is left out.
//!
//! *Direction*: these are promises about parameters and comparisons that the engine does not use.

/// Attributes of parameters, functions and comparisons; some take an argument in parentheses.
const NEWER: &[&str] = &["captures", "initializes", "samesign", "dead_on_return", "nocreateundeforpoison", "nofreeobj"];

/// The text without them, outside of quotes; marks of lifetimes have the size that they once had.
pub(crate) fn readable(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|b| *b == b'\n') {
        convert(line, &mut out);
    }
    out
}

fn convert(line: &[u8], out: &mut Vec<u8>) {
    let declares = line.starts_with(b"declare");
    let mut i = 0;
    let mut quoted = false;
    while i < line.len() {
        let b = line[i];
        quoted ^= b == b'"';
        if b == b' ' && !quoted {
            let word = word_at(line, i + 1);
            let end = i + 1 + word.len();
            let argument = line.get(end) == Some(&b'(');
            let rest = if argument { closing(line, end) } else { end };
            let is = |names: &[&str]| names.iter().any(|w| w.as_bytes() == word);
            // What a function does to memory of newer kinds.
            if is(NEWER) || argument && word == b"memory" && has_newer_memory(&line[end..rest]) {
                i = rest;
                continue;
            }
        }
        out.push(b);
        i += 1;
        if b == b'(' && !quoted && line[i..].starts_with(b"ptr") && is_lifetime(&line[..i - 1]) {
            out.extend_from_slice(if declares { b"i64 immarg, " } else { b"i64 -1, " });
        }
    }
}

fn has_newer_memory(argument: &[u8]) -> bool {
    [&b"target_mem"[..], b"errnomem"].iter().any(|w| argument.windows(w.len()).any(|at| at == *w))
}

fn is_lifetime(before: &[u8]) -> bool {
    before.ends_with(b"@llvm.lifetime.start.p0") || before.ends_with(b"@llvm.lifetime.end.p0")
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
    use super::readable;

    #[test]
    fn only_what_is_newer_goes() {
        let gives = |a: &str, b: &str| assert_eq!(readable(a.as_bytes()), b.as_bytes());
        gives("declare void @f(ptr captures(none) %p)", "declare void @f(ptr %p)");
        gives("ptr initializes((0, 8), (16, 24)) align 8", "ptr align 8");
        gives("%c = icmp samesign ult i32 %a, %b", "%c = icmp ult i32 %a, %b");
        gives("#1 = { nounwind memory(read, target_mem0: none) uwtable }", "#1 = { nounwind uwtable }");
        gives("call void @llvm.lifetime.start.p0(ptr %p)", "call void @llvm.lifetime.start.p0(i64 -1, ptr %p)");
        gives("declare void @llvm.lifetime.end.p0(ptr)", "declare void @llvm.lifetime.end.p0(i64 immarg, ptr)");
        gives("call void @llvm.lifetime.end.p0(i64 8, ptr %p)", "call void @llvm.lifetime.end.p0(i64 8, ptr %p)");
        gives("c\" captures(none) \"", "c\" captures(none) \"");
    }
}
