//! Which topics of `pleach when` speak of targets that are left open.

use pleach_report::TargetResult;

/// Words of reasons with the topic about them; the first that fits counts.
const BY_WORDS: [(&str, &str); 8] = [
    ("--max-time", "max-time"),
    ("time-out", "solver"),
    ("has no body", "external-call"),
    ("graph is too large", "graph-size"),
    ("unsupported", "unsupported"),
    ("--unwind", "bounds"),
    ("--inline", "bounds"),
    ("natively", "contradicted"),
];

pub fn open_topics(rows: &[TargetResult]) -> Vec<&'static str> {
    let topic = |row: &TargetResult| match row.result.as_str() {
        "unreachable-within" => Some("bounds"),
        "unknown" | "open" => {
            let words = format!("{} {}", row.reason, row.replay);
            Some(BY_WORDS.iter().find(|(text, _)| words.contains(text)).map_or("backward", |(_, topic)| topic))
        }
        _ => None,
    };
    let mut topics: Vec<_> = rows.iter().filter_map(topic).collect();
    topics.sort_unstable();
    topics.dedup();
    topics
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_have_topics() {
        let row = |result: &str, reason: &str| TargetResult {
            result: result.into(),
            reason: reason.into(),
            ..TargetResult::default()
        };
        let of = |result, reason| open_topics(&[row(result, reason)]);
        assert_eq!(of("unknown", "f has no body"), ["external-call"]);
        assert_eq!(of("unreachable-within", "beyond: the unwound graph is too large"), ["bounds"]);
        assert_eq!(of("open", "pointers are compared"), ["backward"]);
        assert!(of("unreachable", "from f (3 nodes, 1 time)").is_empty());
    }
}
