//! The input heap as a drawing: SVG that needs no other program.
//!
//! Parameters are in the first column; an object is in the column after that of the first that points to it. Arrows to
//! the right are straight, those to the same or an earlier column bend around.

use crate::harness::{argument, field_name, object_name, value};
use crate::heap::{InputHeap, InputValue, ObjectId};
use crate::types;
use pleach_ir::Program;
use std::fmt::Write;

const CHAR: usize = 8;
const ROW: usize = 20;
const GAP: usize = 70;
const MARGIN: usize = 20;

/// A box with rows; each may point to an object.
struct Drawn {
    title: String,
    rows: Vec<(String, Option<usize>)>,
    column: usize,
    x: usize,
    y: usize,
    width: usize,
}

impl Drawn {
    fn height(&self) -> usize {
        (self.rows.len() + 1) * ROW
    }
}

pub fn drawing(program: &Program, heap: &InputHeap) -> String {
    let mut boxes = boxes(program, heap);
    place_columns(&mut boxes);
    let (width, height) = place(&mut boxes);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         font-family=\"monospace\" font-size=\"13\">\n\
         <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
         orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    for b in &boxes {
        draw_box(&mut out, b);
    }
    for b in &boxes {
        for (i, (_, to)) in b.rows.iter().enumerate() {
            if let Some(to) = to.and_then(|t| boxes.get(t)) {
                draw_arrow(&mut out, b, i, to);
            }
        }
    }
    out.push_str("</svg>\n");
    out
}

/// The first has the parameters, the others are the objects in their order.
fn boxes(program: &Program, heap: &InputHeap) -> Vec<Drawn> {
    let to = |v: InputValue| match v {
        InputValue::Object(ObjectId(i)) => Some(i as usize + 1),
        _ => None,
    };
    let shown = |name: &str, v: InputValue, text: String| match v {
        InputValue::Object(_) => name.to_owned(),
        InputValue::Null => format!("{name} = null"),
        InputValue::Opaque => format!("{name} = something"),
        InputValue::Callback(..) => format!("{name} = a function"),
        InputValue::Number(_) => format!("{name} = {text}"),
    };
    let mut parameters = Vec::new();
    for p in &heap.parameters {
        parameters.push((shown(&p.name, p.value, argument(program, p.ty, p.debug_type, p.value)), to(p.value)));
    }
    let new = |title: String, rows: Vec<(String, Option<usize>)>| {
        let longest = rows.iter().map(|r| r.0.chars().count()).chain([title.chars().count()]).max().unwrap_or(0);
        Drawn { title, rows, column: usize::MAX, x: 0, y: 0, width: (longest + 2) * CHAR }
    };
    let mut all = vec![new("parameters".into(), parameters)];
    for (i, o) in heap.objects.iter().enumerate() {
        let ty = types::spelling(program, o.ty).unwrap_or_else(|| format!("{} bytes", types::size(program, o.ty)));
        let many = if o.count > 1 { format!("[{}]", o.count) } else { String::new() };
        let row = |f| (shown(&field_name(o, f), f.value, value(program, heap, f)), to(f.value));
        all.push(new(format!("{}: {ty}{many}", object_name(i)), o.fields.iter().map(row).collect()));
    }
    all
}

/// One more than the first that points there, breadth first.
fn place_columns(boxes: &mut [Drawn]) {
    boxes[0].column = 0;
    let mut todo = std::collections::VecDeque::from([0]);
    while let Some(i) = todo.pop_front() {
        let next: Vec<usize> = boxes[i].rows.iter().filter_map(|r| r.1).collect();
        for to in next {
            if boxes.get(to).is_some_and(|b| b.column == usize::MAX) {
                boxes[to].column = boxes[i].column + 1;
                todo.push_back(to);
            }
        }
    }
    // An object that nothing points to any more.
    for b in boxes.iter_mut().filter(|b| b.column == usize::MAX) {
        b.column = 1;
    }
}

/// Columns from left to right, boxes from top to bottom; the size of the whole.
fn place(boxes: &mut [Drawn]) -> (usize, usize) {
    let last = boxes.iter().map(|b| b.column).max().unwrap_or(0);
    let (mut x, mut height) = (MARGIN, 0);
    for column in 0..=last {
        let (mut y, mut width) = (MARGIN + ROW, 0);
        for b in boxes.iter_mut().filter(|b| b.column == column) {
            (b.x, b.y) = (x, y);
            y += b.height() + ROW;
            width = width.max(b.width);
        }
        x += width + GAP;
        height = height.max(y);
    }
    (x, height + MARGIN)
}

fn draw_box(out: &mut String, b: &Drawn) {
    let Drawn { x, y, width, .. } = *b;
    let _ = writeln!(
        out,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{}\" fill=\"none\" stroke=\"black\"/>",
        b.height()
    );
    let text = |out: &mut String, row: usize, text: &str, more: &str| {
        let (x, y) = (x + CHAR, y + row * ROW + 14);
        let _ = writeln!(out, "<text x=\"{x}\" y=\"{y}\"{more}>{}</text>", escaped(text));
    };
    text(out, 0, &b.title, " font-weight=\"bold\"");
    for (i, (row, _)) in b.rows.iter().enumerate() {
        let y = y + (i + 1) * ROW;
        let _ = writeln!(out, "<line x1=\"{x}\" y1=\"{y}\" x2=\"{}\" y2=\"{y}\" stroke=\"gray\"/>", x + width);
        text(out, i + 1, row, "");
    }
}

fn draw_arrow(out: &mut String, from: &Drawn, row: usize, to: &Drawn) {
    let (x, y) = (from.x + from.width, from.y + (row + 1) * ROW + ROW / 2);
    let path = if to.column > from.column {
        format!("M{x} {y}L{} {}", to.x, to.y + ROW / 2)
    } else {
        // Around, and from above to the middle of the title.
        let (tx, top) = (to.x + to.width / 2, to.y - ROW / 2);
        format!("M{x} {y}C{} {y} {} {top} {tx} {top}L{tx} {}", x + GAP / 2, x + GAP / 2, to.y)
    };
    let _ = writeln!(out, "<path d=\"{path}\" fill=\"none\" stroke=\"black\" marker-end=\"url(#tip)\"/>");
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heap::{Field, Object, Parameter};
    use crate::types::{Leaf, LeafKind};
    use pleach_ir::{Ty, TypeId};

    /// A circle of two objects and a number.
    fn circle() -> InputHeap {
        let leaf = |path: &str, kind| Leaf { offset: 0, bytes: 8, kind, path: path.into() };
        let to = |i| Field {
            element: 0,
            leaf: leaf(".next", LeafKind::Pointer(None)),
            value: InputValue::Object(ObjectId(i)),
        };
        let object = |i| Object { ty: TypeId(0), count: 1, fields: vec![to(i)], raw: false };
        let parameter = |name: &str, ty, value| Parameter { name: name.into(), ty, debug_type: None, value };
        InputHeap {
            parameters: vec![
                parameter("l", Ty::Ptr, InputValue::Object(ObjectId(0))),
                parameter("a<b", Ty::Int(32), InputValue::Number(7)),
                parameter("q", Ty::Ptr, InputValue::Null),
            ],
            objects: vec![object(1), object(0)],
            stream: Vec::new(),
        }
    }

    #[test]
    fn every_pointer_is_an_arrow_and_every_object_a_box() {
        let text = "target \"x86_64-pc-linux-gnu\" ptr 8\nfunc @main() -> (i32) {\nb0:\n  return (i32 i32 0)\n}\n";
        let program = pleach_ir::text::parse(text).unwrap();
        let svg = drawing(&program, &circle());
        assert_eq!(svg.matches("marker-end").count(), 3);
        assert_eq!(svg.matches("stroke=\"black\"/>").count(), 3);
        assert!(svg.contains("a&lt;b = 7") && svg.contains("q = null"));
        // The arrow back to the first object bends; the two others are straight.
        assert_eq!(svg.matches('C').count(), 1);
        let x = |title: &str| {
            let line = svg.lines().find(|l| l.contains(title)).unwrap();
            line.split('"').nth(1).unwrap().parse::<usize>().unwrap()
        };
        assert!(x("parameters") < x("o1") && x("o1") < x("o2"));
    }
}
