//! A harness to edit: a `main` that calls one function with symbolic arguments.

use pleach_report::{InputType, Parameter};
use std::fmt::Write;

/// Elements that a pointer to scalars refers to in the beginning.
const ELEMENTS: u64 = 8;

/// The C file. `includes` declares the function: its source, or a header.
pub fn render(function: &str, parameters: &[Parameter], include: &str) -> String {
    let mut out = format!(
        "/* A harness for `{function}`. Edit it: sizes of arrays, assumptions about inputs, assertions about results.\n \
         *\n *   pleach test harness.c\n */\n#include <assert.h>\n#include <klee/klee.h>\n\n#include \"{include}\"\n\n\
         int main(void) {{\n"
    );
    let mut arguments = Vec::new();
    for p in parameters {
        let ty = match (&p.ty, p.by_pointer) {
            // A pointer without a known type, or to characters or numbers.
            (InputType::Bytes(0), true) => InputType::array(InputType::unsigned_char(), ELEMENTS),
            (ty, true) if !matches!(ty, InputType::Struct { .. } | InputType::Union { .. }) => {
                InputType::array(ty.clone(), ELEMENTS)
            }
            (ty, _) => ty.clone(),
        };
        let name = &p.name;
        let is_array = matches!(ty, InputType::Array { .. });
        let _ = writeln!(out, "  {};", ty.declaration(name));
        let _ = writeln!(
            out,
            "  klee_make_symbolic({}{name}, sizeof {name}, \"{name}\");",
            if is_array { "" } else { "&" }
        );
        if ty.is_text() {
            let _ = writeln!(out, "  {name}[sizeof {name} - 1] = 0; /* a string */");
        }
        arguments.push(if p.by_pointer && !is_array { format!("&{name}") } else { name.clone() });
    }
    let _ = write!(
        out,
        "  /* klee_assume(…); says what the caller guarantees. */\n  {function}({});\n  \
         /* assert(…); says what the function guarantees. */\n  return 0;\n}}\n",
        arguments.join(", ")
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_and_values() {
        let parameter = |name: &str, ty, by_pointer| Parameter { name: name.into(), ty, by_pointer };
        let point = InputType::Struct { name: "struct point".into(), size: 8, fields: Vec::new() };
        let all = [
            parameter("s", InputType::char(), true),
            parameter("n", InputType::int(), false),
            parameter("p", point, true),
        ];
        let text = render("f", &all, "a.c");
        assert!(
            text.contains("  char s[8];\n  klee_make_symbolic(s, sizeof s, \"s\");\n  s[sizeof s - 1] = 0;"),
            "{text}"
        );
        assert!(text.contains("  int n;\n  klee_make_symbolic(&n, sizeof n, \"n\");\n"), "{text}");
        assert!(text.contains("  struct point p;\n") && text.contains("  f(s, n, &p);\n"), "{text}");
    }
}
