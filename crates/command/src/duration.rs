//! Durations as KLEE writes them: `30s`, `5min`, `1h30min`, `250ms`; a bare number is seconds.

use std::time::Duration;

const UNITS: [(&str, f64); 9] = [
    ("h", 3600.0),
    ("min", 60.0),
    ("m", 60.0),
    ("sec", 1.0),
    ("s", 1.0),
    ("ms", 1e-3),
    ("us", 1e-6),
    ("ns", 1e-9),
    ("d", 86400.0),
];

pub fn parse(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is not a duration; examples: 30s, 5min, 1h30min");
    let (mut rest, mut total) = (text.trim(), 0.0);
    if rest.is_empty() {
        return Err(wrong());
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, tail) = rest.split_at(digits);
        let letters = tail.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(letters);
        let number: f64 = number.parse().map_err(|_| wrong())?;
        let scale = match unit {
            "" if tail.is_empty() && total == 0.0 => 1.0,
            _ => UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(wrong)?.1,
        };
        total += number * scale;
        rest = tail;
    }
    Duration::try_from_secs_f64(total).map_err(|_| wrong())
}

/// For people: `950ms`, `12.3s`, `4min 05s`, `2h 10min`.
pub fn show(d: Duration) -> String {
    let s = d.as_secs();
    match s {
        0 => format!("{}ms", d.as_millis()),
        1..60 => format!("{:.1}s", d.as_secs_f64()),
        60..3600 => format!("{}min {:02}s", s / 60, s % 60),
        _ => format!("{}h {:02}min", s / 3600, s % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (text, ms) in [("30s", 30_000), ("90", 90_000), ("1h30min", 5_400_000), ("250ms", 250), ("1.5s", 1500)] {
            assert_eq!(parse(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for bad in ["", "s", "3x", "-1s", "1s2", "1e400d", "nan"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
        assert_eq!(show(Duration::from_secs(3725)), "1h 02min");
        assert_eq!(show(Duration::from_millis(12_340)), "12.3s");
    }
}
