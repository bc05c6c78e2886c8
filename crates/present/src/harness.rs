//! A harness to edit: a `main` that calls one function with symbolic arguments.

use pleach_report::{InputType, Parameter};
use std::fmt::Write;

/// Elements that a pointer to scalars refers to in the beginning.
const ELEMENTS: u64 = 8;

/// One parameter of the function.
pub struct Argument {
    pub parameter: Parameter,
    /// The parameter is a pointer to a function.
    pub is_function: bool,
}

impl From<(Parameter, bool)> for Argument {
    fn from((parameter, is_function): (Parameter, bool)) -> Argument {
        Argument { parameter, is_function }
    }
}

/// The C file. `include` declares the function: its source, or a header.
pub fn render(function: &str, arguments: &[Argument], include: &str, command: &str) -> String {
    let mut out = format!(
        "/* A harness for `{function}`. Edit it: sizes of arrays, assumptions about inputs, assertions about results.\n \
         *\n *   {command}\n */\n#include <assert.h>\n#include <klee/klee.h>\n\n#include \"{include}\"\n\n\
         int main(void) {{\n"
    );
    let mut passed = Vec::new();
    for (i, a) in arguments.iter().enumerate() {
        let (name, by_pointer) = (&a.parameter.name, a.parameter.by_pointer);
        if a.is_function {
            let _ = writeln!(out, "  /* {name}: write a function, and pass it instead of 0 */");
            passed.push("0".to_owned());
            continue;
        }
        let ty = object(&a.parameter);
        let is_array = matches!(ty, InputType::Array { .. } | InputType::Bytes(_));
        let _ = writeln!(out, "  {};", ty.declaration(name));
        let _ = writeln!(
            out,
            "  klee_make_symbolic({}{name}, sizeof {name}, \"{name}\");",
            if is_array { "" } else { "&" }
        );
        null_pointers(&mut out, name, &ty);
        // An array that the next parameter counts need not be a string.
        if ty.is_text() && !arguments.get(i + 1).is_some_and(is_count) {
            let _ = writeln!(out, "  {name}[sizeof {name} - 1] = 0; /* a string */");
        }
        if let Some(counted) = i.checked_sub(1).and_then(|before| counted(&arguments[before], a)) {
            let at_least = if is_signed(&ty) { format!("{name} >= 0 && ") } else { String::new() };
            let _ = writeln!(
                out,
                "  klee_assume({at_least}{name} <= sizeof {counted} / sizeof {counted}[0]); /* elements of {counted} */"
            );
        }
        passed.push(if by_pointer && !is_array { format!("&{name}") } else { name.clone() });
    }
    let _ = write!(
        out,
        "  /* klee_assume(…); says what the caller guarantees. */\n  {function}({});\n  \
         /* assert(…); says what the function guarantees. */\n  return 0;\n}}\n",
        passed.join(", ")
    );
    out
}

/// The object that stands for the parameter, or for what it points to.
fn object(p: &Parameter) -> InputType {
    match (&p.ty, p.by_pointer) {
        // A pointer without a known type, or to characters or numbers.
        (InputType::Bytes(0), true) => InputType::Bytes(ELEMENTS),
        (ty, true) if !matches!(ty, InputType::Struct { .. } | InputType::Union { .. }) => {
            InputType::array(ty.clone(), ELEMENTS)
        }
        (ty, _) => ty.clone(),
    }
}

/// The name of the array before `this` whose elements `this` counts.
fn counted<'a>(before: &'a Argument, this: &Argument) -> Option<&'a str> {
    let is_array = matches!(object(&before.parameter), InputType::Array { .. } | InputType::Bytes(_));
    let p = &before.parameter;
    (p.by_pointer && is_array && !before.is_function && is_count(this)).then_some(&p.name)
}

/// Whether the name says that the parameter counts elements.
fn is_count(a: &Argument) -> bool {
    const NAMES: [&str; 5] = ["n", "num", "cnt", "sz", "nbytes"];
    const ENDS: [&str; 4] = ["len", "length", "size", "count"];
    let name = a.parameter.name.to_lowercase();
    let integer = matches!(a.parameter.ty, InputType::Int { .. }) && !a.parameter.by_pointer;
    integer && (NAMES.contains(&name.as_str()) || ENDS.iter().any(|end| name.ends_with(end)))
}

fn is_signed(ty: &InputType) -> bool {
    matches!(ty, InputType::Int { signed: true, .. })
}

/// Pointers in a structure refer to nothing until the user says to what.
fn null_pointers(out: &mut String, of: &str, ty: &InputType) {
    let InputType::Struct { fields, .. } = ty else { return };
    for f in fields.iter().filter(|f| !f.name.is_empty()) {
        let member = format!("{of}.{}", f.name);
        match &f.ty {
            InputType::Pointer { .. } => {
                let _ = writeln!(out, "  {member} = 0; /* or what it points to */");
            }
            inner => null_pointers(out, &member, inner),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_report::Field;

    #[test]
    fn pointers_and_values() {
        let parameter = |name: &str, ty, by_pointer| Argument {
            parameter: Parameter { name: name.into(), ty, by_pointer },
            is_function: name == "done",
        };
        let next =
            Field { name: "next".into(), offset: 0, ty: InputType::Pointer { to: "struct point".into(), bits: 64 } };
        let point = InputType::Struct { name: "struct point".into(), size: 8, fields: vec![next] };
        let all = [
            parameter("s", InputType::char(), true),
            parameter("n", InputType::int(), false),
            parameter("p", point, true),
            parameter("done", InputType::Bytes(0), true),
            parameter("data", InputType::Bytes(0), true),
            parameter("flags", InputType::int(), false),
        ];
        let text = render("f", &all, "a.c", "pleach test harness.c");
        assert!(
            text.contains("  char s[8];\n  klee_make_symbolic(s, sizeof s, \"s\");\n  int n;\n"),
            "counted, so no string: {text}"
        );
        assert!(text.contains("sizeof n, \"n\");\n  klee_assume(n >= 0 && n <= sizeof s / sizeof s[0]);"), "{text}");
        assert!(text.contains("  struct point p;\n") && text.contains("  p.next = 0;"), "{text}");
        assert!(text.contains("  unsigned char data[8];\n"), "{text}");
        assert!(text.contains("  f(s, n, &p, 0, data, flags);\n"), "{text}");
        let text = render("g", &all[..1], "a.c", "pleach test harness.c");
        assert!(text.contains("  s[sizeof s - 1] = 0; /* a string */\n"), "{text}");
    }
}
