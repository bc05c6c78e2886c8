//! Format strings of `printf` and its like: what each conversion takes and reads.

/// One conversion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conversion {
    /// the width is an argument (`*`)
    pub width_argument: bool,
    pub precision: Precision,
    pub takes: Takes,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Precision {
    Unlimited,
    Fixed(u64),
    /// an argument (`.*`)
    Argument,
}

/// The argument of a conversion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Takes {
    /// none: `%%`, `%m`
    Nothing,
    /// a number, a character or an address, which is printed
    Scalar,
    /// bytes up to a NUL (`%s`)
    Text,
    /// wide characters up to a null (`%ls`)
    WideText,
    /// a place for the number of characters so far (`%n`)
    Count,
}

/// The conversions of a format; none if it has one that is not known, or arguments by position.
pub fn conversions(format: &[u8]) -> Option<Vec<Conversion>> {
    let mut rest = format.iter().copied().peekable();
    let mut found = Vec::new();
    while let Some(c) = rest.next() {
        if c != b'%' {
            continue;
        }
        while rest.next_if(|c| b"-+ #0'I".contains(c)).is_some() {}
        let width_argument = rest.next_if_eq(&b'*').is_some();
        if !width_argument {
            while rest.next_if(u8::is_ascii_digit).is_some() {}
        }
        let precision = match rest.next_if_eq(&b'.') {
            None => Precision::Unlimited,
            Some(_) if rest.next_if_eq(&b'*').is_some() => Precision::Argument,
            Some(_) => {
                let mut n = 0u64;
                while let Some(d) = rest.next_if(u8::is_ascii_digit) {
                    n = n.saturating_mul(10).saturating_add(u64::from(d - b'0'));
                }
                Precision::Fixed(n)
            }
        };
        let mut wide = false;
        while let Some(l) = rest.next_if(|c| b"hlLqjzt".contains(c)) {
            wide |= l == b'l';
        }
        let takes = match rest.next()? {
            b'%' | b'm' => Takes::Nothing,
            b'd' | b'i' | b'o' | b'u' | b'x' | b'X' | b'c' | b'C' | b'p' => Takes::Scalar,
            b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A' => Takes::Scalar,
            b's' if wide => Takes::WideText,
            b's' => Takes::Text,
            b'S' => Takes::WideText,
            b'n' => Takes::Count,
            _ => return None,
        };
        found.push(Conversion { width_argument, precision, takes });
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn takes(format: &str) -> Option<Vec<Takes>> {
        conversions(format.as_bytes()).map(|all| all.iter().map(|c| c.takes).collect())
    }

    #[test]
    fn conversions_are_found() {
        use Takes::*;
        assert_eq!(takes("no more than text"), Some(vec![]));
        assert_eq!(takes("%d %-5lu%%%08.3Lf|%s%n"), Some(vec![Scalar, Scalar, Nothing, Scalar, Text, Count]));
        assert_eq!(takes("%ls%hhn"), Some(vec![WideText, Count]));
    }

    #[test]
    fn widths_and_precisions_may_be_arguments() {
        let all = conversions(b"%*d%.*s%.12s%.s").unwrap_or_default();
        let precisions: Vec<Precision> = all.iter().map(|c| c.precision).collect();
        use Precision::*;
        assert_eq!(precisions, [Unlimited, Argument, Fixed(12), Fixed(0)]);
        assert!(all[0].width_argument && !all[1].width_argument);
    }

    #[test]
    fn what_is_not_known_is_no_format() {
        for format in ["%", "%2$s", "%y", "100% of%"] {
            assert_eq!(takes(format), None, "{format}");
        }
    }
}
