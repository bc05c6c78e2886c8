//! Human-readable numbers and nouns.

/// `6675` as `6,675`.
pub fn number(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// `1 path`, `2 paths`.
pub fn count(n: u64, noun: &str) -> String {
    format!("{} {noun}{}", number(n), if n == 1 { "" } else { "s" })
}

/// `3.2M`, `410k`, `12`.
pub fn short(n: f64) -> String {
    match n {
        n if n >= 1e9 => format!("{:.1}G", n / 1e9),
        n if n >= 1e6 => format!("{:.1}M", n / 1e6),
        n if n >= 1e3 => format!("{:.0}k", n / 1e3),
        n => format!("{n:.0}"),
    }
}

/// Whole per cent, 100 only when all.
pub fn percent(part: u64, whole: u64) -> String {
    match (part, whole) {
        (_, 0) => "–".into(),
        (p, w) => format!("{}%", (p as u128 * 100 / w as u128)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn for_people() {
        assert_eq!(number(6675), "6,675");
        assert_eq!(number(131_072_000), "131,072,000");
        assert_eq!(number(7), "7");
        assert_eq!(count(1, "path"), "1 path");
        assert_eq!(count(0, "error"), "0 errors");
        assert_eq!(short(3_240_000.0), "3.2M");
        assert_eq!(percent(199, 200), "99%");
    }
}
