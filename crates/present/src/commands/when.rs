//! `pleach when`: what to do when something was cut or is unknown. The text is that of `docs/when.md`.

use clap::Args;
use pleach_command::{CliError, Code};

const PAGE: &str = include_str!("../../../../docs/when.md");

#[derive(Args, Debug)]
pub struct WhenArgs {
    /// The reason of a cut, the kind of an assumption, or another topic that a message names; without one: all topics
    #[arg(value_name = "TOPIC")]
    pub topics: Vec<String>,
}

/// Prints topics, or the list of them.
pub fn run(args: &WhenArgs) -> Result<Code, CliError> {
    if args.topics.is_empty() {
        print!("{}", list());
        return Ok(Code::Fine);
    }
    let mut texts = Vec::new();
    for topic in &args.topics {
        let text = entry(topic).ok_or_else(|| unknown(topic))?;
        texts.push(format!("{topic}\n\n{}\n", in_a_terminal(text)));
    }
    print!("{}", texts.join("\n"));
    Ok(Code::Fine)
}

fn unknown(topic: &str) -> CliError {
    let near = topics().find(|(_, name)| name.contains(topic) || topic.contains(name));
    let hint = near.map_or_else(String::new, |(_, name)| format!(" (did you mean `{name}`?)"));
    CliError::Usage(format!("there is no topic `{topic}`{hint}; `pleach when` lists all"))
}

/// The topics with their chapters, in the order of the page.
fn topics() -> impl Iterator<Item = (&'static str, &'static str)> {
    let mut chapter = "";
    PAGE.lines().filter_map(move |line| {
        if let Some(title) = line.strip_prefix("# ") {
            chapter = title;
        }
        line.strip_prefix("## ").map(|name| (chapter, name))
    })
}

/// The text below the heading of a topic.
fn entry(topic: &str) -> Option<&'static str> {
    let heading = format!("\n## {topic}\n");
    let text = &PAGE[PAGE.find(&heading)? + heading.len()..];
    let end = text.find("\n## ").unwrap_or(text.len()).min(text.find("\n# ").unwrap_or(text.len()));
    Some(text[..end].trim())
}

fn list() -> String {
    let (mut out, mut last) = (String::new(), "");
    for (chapter, name) in topics() {
        if chapter != last {
            let gap = if last.is_empty() { "" } else { "\n" };
            out += &format!("{gap}{chapter}:\n");
            last = chapter;
        }
        let first = entry(name).unwrap_or_default().split('*').nth(1).unwrap_or_default();
        out += &format!("  {name:<20} {}\n", in_a_terminal(&first.replace('\n', " ")));
    }
    out + "\npleach when TOPIC says what to do.\n"
}

/// Links as the words and the file that they lead to; emphasis left out.
fn in_a_terminal(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, (words, target, after))) =
        rest.split_once('[').and_then(|(b, link)| Some((b, link_parts(link)?)))
    {
        let place = if target.starts_with('#') { String::new() } else { format!(" (docs/{target})") };
        out += &format!("{before}{words}{place}");
        rest = after;
    }
    (out + rest).replace("*", "")
}

/// What follows `[`: words, target, rest.
fn link_parts(link: &str) -> Option<(&str, &str, &str)> {
    let (words, rest) = link.split_once("](")?;
    let (target, rest) = rest.split_once(')')?;
    Some((words, target, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_topic_has_a_text() {
        assert!(topics().count() > 25);
        for (chapter, name) in topics() {
            let text = entry(name).unwrap_or_else(|| panic!("{name}"));
            assert!(!chapter.is_empty() && text.starts_with('*') && text.len() > 60, "{name}: {text}");
        }
    }

    #[test]
    fn links_are_files() {
        assert_eq!(
            in_a_terminal("see [the\nmodel](environment.md#x), [here](#y) a[1]."),
            "see the\nmodel (docs/environment.md#x), here a[1]."
        );
        assert!(!list().contains('[') && list().contains("  max-time "));
    }

    #[test]
    fn a_topic_ends_at_the_next_chapter() {
        let text = entry("stopped").expect("a topic");
        assert!(text.ends_with("please report it.") && !text.contains('#'), "{text}");
    }
}
