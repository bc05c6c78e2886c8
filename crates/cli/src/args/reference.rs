//! `docs/flags.md`, written from the definitions of the flags.

use super::Cli;
use clap::{Arg, Command, CommandFactory};
use std::fmt::Write;

const WIDTH: usize = 110;

const TOP: &str = include_str!("text/flags-top.md");
const BOTTOM: &str = include_str!("text/flags-bottom.md");

/// Where a topic is explained.
const PAGES: [(&str, &str); 11] = [
    ("Compilation", "building.md"),
    ("Inputs", "environment.md"),
    ("Errors", "errors.md"),
    ("Output", "run-directory.md"),
    ("Limits", "limits.md"),
    ("Search", "search.md"),
    ("Pruning", "interpolation.md"),
    ("Merging", "merging.md"),
    ("Memory", "memory.md"),
    ("Solving", "solver.md"),
    (super::run::DEVELOPERS, "testing.md"),
];

/// Where a command is explained.
const CHAPTERS: [(&str, &str); 6] = [
    ("verify", "[Verifying a property](verify.md)."),
    ("reach", "[Reaching targets](reach.md)."),
    ("explain", "[Pruning by interpolation](interpolation.md)."),
    ("replay", "[Replay](soundness.md#replay)."),
    ("report", "[Looking at a run](report.md)."),
    ("export", "[Tests for other tools](export.md)."),
];

/// The whole page.
pub fn reference() -> String {
    let mut cli = Cli::command();
    cli.build();
    let mut out = TOP.to_owned();
    let test = cli.find_subcommand("test").cloned().unwrap_or_default();
    for command in cli.get_subcommands().filter(|c| !c.is_hide_set() && c.get_name() != "help") {
        chapter(&mut out, command, (command.get_name() != "test").then_some(&test));
    }
    out + BOTTOM
}

fn chapter(out: &mut String, command: &Command, test: Option<&Command>) {
    let name = command.get_name();
    let positional: String = command.get_positionals().map(|a| format!(" {}", usage(a))).collect();
    let _ = write!(out, "\n## pleach {name}\n\n    pleach {name} [FLAGS]{positional}\n\n");
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let more = CHAPTERS.iter().find(|(n, _)| *n == name).map_or("", |(_, text)| text);
    paragraph(out, "", "", format!("{about}. {more}").trim_end());
    if name == "test" {
        out.push_str("\nThe [symbolic environment](environment.md) has flags of KLEE's: `--sym-args` and its like.\n");
    }
    let is_shared = |a: &&Arg| test.is_some_and(|t| t.get_arguments().any(|b| is_same(a, b)));
    let flags =
        || command.get_arguments().filter(|a| !a.is_hide_set() && !matches!(a.get_id().as_str(), "help" | "version"));
    let mut topics: Vec<Option<&str>> = vec![None];
    for arg in flags() {
        if !topics.contains(&arg.get_help_heading()) {
            topics.push(arg.get_help_heading());
        }
    }
    for topic in topics {
        let own: Vec<&Arg> = flags().filter(|a| a.get_help_heading() == topic && !is_shared(a)).collect();
        if own.is_empty() {
            continue;
        }
        out.push('\n');
        if let Some(topic) = topic {
            let page = PAGES.iter().find(|(t, _)| *t == topic).map(|(_, page)| format!(" ([more]({page}))"));
            let _ = write!(out, "**{topic}**{}\n\n", page.unwrap_or_default());
        }
        own.iter().for_each(|arg| flag(out, arg));
    }
    let shared: Vec<String> = flags().filter(is_shared).filter(|a| !a.is_positional()).map(spelling).collect();
    if !shared.is_empty() {
        out.push('\n');
        paragraph(out, "", "", &format!("As for [`pleach test`](#pleach-test): {}.", shared.join(", ")));
    }
}

fn is_same(a: &Arg, b: &Arg) -> bool {
    let help = |a: &Arg| a.get_help().map(ToString::to_string);
    a.get_id() == b.get_id() && help(a) == help(b) && a.get_default_values() == b.get_default_values()
}

fn usage(arg: &Arg) -> String {
    let name = arg.get_value_names().and_then(|n| n.first()).map_or("ARG", |n| n.as_str());
    match (arg.is_last_set(), arg.get_num_args().is_some_and(|n| n.max_values() > 1)) {
        (true, _) => format!("[-- {name}…]"),
        (false, true) => format!("{name}…"),
        (false, false) => name.to_owned(),
    }
}

fn spelling(arg: &Arg) -> String {
    let long = arg.get_long().map(|l| format!("`--{l}`"));
    let short = arg.get_short().map(|s| format!("`-{s}`"));
    [short, long].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn flag(out: &mut String, arg: &Arg) {
    let mut text = String::new();
    if arg.is_positional() {
        let _ = write!(text, "`{}`", usage(arg));
    } else {
        let names: Vec<String> = match arg.get_action().takes_values() {
            true => arg.get_value_names().unwrap_or_default().iter().map(ToString::to_string).collect(),
            false => Vec::new(),
        };
        let is_optional = arg.get_num_args().is_some_and(|n| n.min_values() == 0);
        let value = match names.first() {
            Some(name) if is_optional => format!("[={name}]"),
            Some(name) if arg.get_value_delimiter().is_some() => format!(" {name},…"),
            Some(name) => format!(" {name}"),
            None => String::new(),
        };
        let spelled = spelling(arg);
        let _ = write!(text, "{}{value}`", spelled.trim_end_matches('`'));
    }
    let defaults: Vec<_> = arg.get_default_values().iter().map(|v| v.to_string_lossy()).collect();
    if arg.get_action().takes_values() && !defaults.is_empty() {
        let _ = write!(text, " (default `{}`)", defaults.join(","));
    }
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    // A full stop where the first paragraph of a longer text ends.
    let help = help.trim_end_matches('.').replace("\n\n", ". ");
    paragraph(out, "- ", "  ", &format!("{text}: {help}."));
    for value in arg.get_possible_values().iter().filter(|_| arg.get_action().takes_values()) {
        let meaning = value.get_help().map(|h| format!(": {h}.")).unwrap_or_default();
        paragraph(out, "  - ", "    ", &format!("`{}`{meaning}", value.get_name()));
    }
}

/// Wrapped at words.
fn paragraph(out: &mut String, first: &str, rest: &str, text: &str) {
    let mut line = first.to_owned();
    let mut is_empty = true;
    for word in text.split_whitespace() {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            let _ = writeln!(out, "{line}");
            line = rest.to_owned();
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    let _ = writeln!(out, "{line}");
}
