//! Tests over small programs in text form.

mod callgraph;
mod cfg;
mod distance;
mod liveness;
mod loops;
mod pointsto;
mod verify;

use crate::{BlockId, Program, text, verify::verify as check};

/// A program that must be well formed.
fn program(text: &str) -> Program {
    let p = text::parse(text).unwrap_or_else(|e| panic!("{e}"));
    check(&p).unwrap_or_else(|e| panic!("{}", e.join("\n")));
    p
}

/// One function whose blocks go nowhere but along the given edges; a block without any returns.
fn graph(edges: &[&[u32]]) -> Program {
    let mut text = String::from("func @f(%0 i1, %1 i32) -> () {\n  slot %0 i1\n  slot %1 i32\n");
    for (b, out) in edges.iter().enumerate() {
        let end = match out {
            [] => "return ()".to_owned(),
            [a] => format!("jump b{a}"),
            [a, b] => format!("branch %0, b{a}, b{b}"),
            [a, rest @ ..] => {
                let cases: Vec<String> = rest.iter().enumerate().map(|(i, t)| format!("{i}: b{t}")).collect();
                format!("switch i32 %1, b{a} {{{}}}", cases.join(", "))
            }
        };
        text += &format!("b{b}:\n  {end}\n");
    }
    program(&(text + "}\n"))
}

fn blocks(ids: &[u32]) -> Vec<BlockId> {
    ids.iter().map(|&i| BlockId(i)).collect()
}
