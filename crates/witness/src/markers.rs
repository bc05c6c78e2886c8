//! Markers of lines in preprocessed sources (`# 12 "a.c"`): witnesses count the lines of the text that they are about.

/// The line and the file that follow the marker.
fn marker(line: &str) -> Option<(u32, &str)> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("line").map_or(rest, str::trim_start);
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let number = rest[..digits].parse().ok()?;
    let file = rest[digits..].split('"').nth(1).unwrap_or_default();
    Some((number, file))
}

/// The text with empty lines for markers.
pub(crate) fn dropped(text: String) -> String {
    if !text.lines().any(|l| marker(l).is_some()) {
        return text;
    }
    let line = |l: &str| if marker(l).is_some() { String::new() } else { l.to_owned() };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// The line of the text that markers call `line` of `file`; without markers, that line itself.
pub fn physical_line(text: &str, file: &str, line: u32) -> u32 {
    let base = |f: &str| f.rsplit('/').next().map(str::to_owned);
    let (mut here, mut presumed) = (false, 0);
    for (i, l) in text.lines().enumerate() {
        if let Some((number, name)) = marker(l) {
            here = if name.is_empty() { here } else { base(name) == base(file) };
            presumed = number;
            continue;
        }
        if here && presumed == line {
            return i as u32 + 1;
        }
        presumed += 1;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_by_markers() {
        let text = "# 1 \"a.c\"\n# 1 \"<built-in>\" 1\n# 4 \"dir/a.c\" 2\nx\n#line 9\ny\n";
        assert_eq!((physical_line(text, "a.c", 4), physical_line(text, "a.c", 9)), (4, 6));
        assert_eq!((physical_line(text, "b.c", 4), physical_line("x\ny\n", "a.c", 2)), (4, 2));
        assert_eq!(dropped("#define x 1\n# 2 \"a\"\nz".into()), "#define x 1\n\nz");
    }
}
