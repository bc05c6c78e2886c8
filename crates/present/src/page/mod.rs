//! A run as one page: a file that needs neither a network nor anything next to it.
//!
//! The page is `assets/page.html` with the styles, the scripts and the data inserted. All text of the program and of the
//! run is data, in JSON; scripts put it on the page as text, never as markup.

mod data;
mod packed_tree;
mod uncovered;

use crate::Run;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

const PAGE: &str = include_str!("assets/page.html");
const STYLE: &str = include_str!("assets/style.css");
/// In the order in which they use each other.
const SCRIPTS: [&str; 7] = [
    include_str!("assets/dom.js"),
    include_str!("assets/tree.js"),
    include_str!("assets/icicle.js"),
    include_str!("assets/source.js"),
    include_str!("assets/chart.js"),
    include_str!("assets/lists.js"),
    include_str!("assets/main.js"),
];

/// What only a served page has: it asks its server. A page that is a file asks for nothing.
const SERVED_SCRIPTS: [&str; 2] = [include_str!("assets/state.js"), include_str!("assets/live.js")];
/// The page follows a run that is under way.
const FOLLOW: &str = "follow(window.page);\n";

/// The whole page.
pub fn render(run: &Run) -> String {
    page(run, false)
}

/// The page for a server that also answers what needs the engine. It may ask that server, and nobody else.
pub fn render_served(run: &Run) -> String {
    page(run, true)
}

/// What a served page of a run under way asks for: the data, and the tree in base64.
pub fn data_of(run: &Run) -> Value {
    let (data, tree) = contents(run, true);
    serde_json::json!({ "data": data, "tree": tree })
}

fn contents(run: &Run, served: bool) -> (Value, String) {
    let tree = packed_tree::pack(&run.tree);
    let mut data = data::of(run, &tree);
    data["served"] = served.into();
    data["live"] = (served && run.is_under_way()).into();
    (data, STANDARD.encode(&tree.bytes))
}

fn page(run: &Run, served: bool) -> String {
    let (data, tree) = contents(run, served);
    let title = format!("{} · Pleach", run.summary.sources.join(" "));
    let parts = [
        ("title", escape(&title)),
        ("policy", if served { "; connect-src 'self'" } else { "" }.to_owned()),
        ("style", STYLE.to_owned()),
        ("verdict", escape(&run.summary.verdict)),
        ("text", escape(run.text.trim_end())),
        ("data", embed(&data)),
        ("tree", tree),
        ("script", if served { SERVED_SCRIPTS.concat() + &SCRIPTS.concat() + FOLLOW } else { SCRIPTS.concat() }),
    ];
    fill(PAGE, &parts)
}

/// Puts each part where the template has `{{name}}`, in one pass: parts are not read for names.
fn fill(template: &str, parts: &[(&str, String)]) -> String {
    let mut out = String::with_capacity(template.len() + parts.iter().map(|(_, p)| p.len()).sum::<usize>());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let (name, after) = after.split_once("}}").unwrap_or((after, ""));
        out.push_str(parts.iter().find(|(n, _)| *n == name).map_or("", |(_, text)| text));
        rest = after;
    }
    out + rest
}

/// Text as HTML.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// JSON for a `script` element: nothing in it ends the element.
pub fn embed(data: &Value) -> String {
    data.to_string().replace('<', "\\u003c")
}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
