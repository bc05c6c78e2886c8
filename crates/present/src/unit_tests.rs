//! Tests as unit tests in C: plain, for cmocka, or for GoogleTest.
//!
//! Each test calls the function with the values of its inputs. What pointers refer to is on the heap, with its exact
//! size, so that a sanitizer sees accesses outside. Tests that lead to an error are there, but do not run by default.

use crate::Run;
use pleach::number_format::count;
use pleach_report::{EntryKind, Input, InputType, Parameter, Prediction, TestCase, TestId, input_text};
use std::fmt::Write;

/// For which framework.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Framework {
    /// A program of its own; arguments are numbers of tests.
    Plain,
    Cmocka,
    GoogleTest,
}

/// The whole file; a sentence if the run cannot be written as unit tests.
pub fn render(run: &Run, framework: Framework) -> Result<String, String> {
    let (entry, parameters) = match &run.info.entry_kind {
        EntryKind::Function { parameters, .. } => (run.info.entry.as_str(), parameters.clone()),
        EntryKind::Fuzz => (run.info.entry.as_str(), fuzz_parameters()),
        EntryKind::Main => {
            return Err("unit tests call a function, but this run starts at `main`; explore one with --entry".into());
        }
    };
    if let Some(p) = parameters.iter().find(|p| !p.by_pointer && spelling(&p.ty).is_none()) {
        return Err(format!("the parameter `{}` is a structure, which unit tests cannot pass yet", p.name));
    }
    if !entry.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Err(format!("`{entry}` is not a name in C"));
    }
    let mut out = head(run, framework, entry, &parameters);
    for test in run.tests.values() {
        case(&mut out, run, framework, entry, &parameters, test);
    }
    tail(&mut out, run, framework);
    Ok(out)
}

fn fuzz_parameters() -> Vec<Parameter> {
    let size = InputType::Int { name: "size_t".into(), bits: 64, signed: false };
    vec![
        Parameter { name: "data".into(), ty: InputType::Bytes(0), by_pointer: true },
        Parameter { name: "size".into(), ty: size, by_pointer: false },
    ]
}

/// The type of a scalar without the program's names.
fn spelling(ty: &InputType) -> Option<String> {
    Some(match ty {
        InputType::Int { bits: bits @ (8 | 16 | 32 | 64), signed, .. } => {
            format!("{}int{bits}_t", if *signed { "" } else { "u" })
        }
        InputType::Char { signed: true, .. } => "signed char".into(),
        InputType::Char { .. } => "unsigned char".into(),
        InputType::Bool => "bool".into(),
        InputType::Float { bits: 32, .. } => "float".into(),
        InputType::Float { bits: 64, .. } => "double".into(),
        InputType::Float { bits: 80, .. } => "long double".into(),
        InputType::Pointer { .. } => "void *".into(),
        _ => return None,
    })
}

fn head(run: &Run, framework: Framework, entry: &str, parameters: &[Parameter]) -> String {
    let types: Vec<String> = parameters
        .iter()
        .map(|p| if p.by_pointer { "void *".into() } else { spelling(&p.ty).unwrap_or_default() })
        .collect();
    let list = if types.is_empty() { "void".to_owned() } else { types.join(", ") };
    let returns = match &run.info.entry_kind {
        EntryKind::Function { returns: Some(ty), .. } => spelling(ty).unwrap_or_else(|| "void".into()),
        EntryKind::Function { returns: None, .. } => "void".into(),
        _ => "int".into(),
    };
    let command = run.info.command.join(" ").replace("*/", "* /");
    let mut out = format!("/* Written by pleach export from the tests of: {command} */\n");
    for header in ["setjmp.h", "stdarg.h", "stdbool.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h"] {
        let _ = writeln!(out, "#include <{header}>");
    }
    out.push_str(match framework {
        Framework::Plain => "",
        Framework::Cmocka => "#include <cmocka.h>\n",
        Framework::GoogleTest => "#include <gtest/gtest.h>\n",
    });
    let linkage = if framework == Framework::GoogleTest { "extern \"C\" " } else { "" };
    let _ = write!(
        out,
        "\n{linkage}{returns} {entry}({list});\n\n/* A block of the heap with these bytes. */\n\
         static void *object(const void *bytes, size_t size) {{\n  void *p = malloc(size);\n  \
         if (size > 0) memcpy(p, bytes, size);\n  return p;\n}}\n"
    );
    out
}

fn is_failing(test: &TestCase) -> bool {
    !matches!(test.predicted, Prediction::Exit { .. })
}

fn case(out: &mut String, run: &Run, framework: Framework, entry: &str, parameters: &[Parameter], test: &TestCase) {
    let stem = test.id.stem();
    let says = crate::run::outcome(&test.predicted).replace("*/", "* /");
    let _ = writeln!(out, "\n/* {says} */");
    let _ = match framework {
        Framework::Plain => writeln!(out, "static void {stem}(void) {{"),
        Framework::Cmocka => writeln!(out, "static void {stem}(void **state) {{\n  (void)state;"),
        Framework::GoogleTest => {
            let disabled = if is_failing(test) { "DISABLED_" } else { "" };
            writeln!(out, "TEST({entry}, {disabled}{stem}) {{")
        }
    };
    let fuzz = matches!(run.info.entry_kind, EntryKind::Fuzz);
    let size = input_text::fuzz_data(&test.inputs).len();
    for p in parameters {
        let input = test.inputs.iter().find(|i| i.name == p.name || i.null_pointer() == Some(&p.name));
        match (fuzz, p.by_pointer) {
            (true, true) => pointer(out, &p.name, Some(input_text::fuzz_data(&test.inputs))),
            (true, false) => drop(writeln!(out, "  size_t {} = {size};", p.name)),
            (false, true) => {
                pointer(out, &p.name, input.filter(|i| i.null_pointer().is_none()).map(|i| &i.bytes[..]));
            }
            (false, false) => scalar(out, &p.name, &p.ty, input),
        }
    }
    let names: Vec<&str> = parameters.iter().map(|p| p.name.as_str()).collect();
    let _ = writeln!(out, "  {entry}({});", names.join(", "));
    for p in parameters.iter().filter(|p| p.by_pointer) {
        let _ = writeln!(out, "  free({});", p.name);
    }
    out.push_str("}\n");
}

fn pointer(out: &mut String, name: &str, bytes: Option<&[u8]>) {
    let Some(bytes) = bytes else {
        let _ = writeln!(out, "  void *{name} = NULL;");
        return;
    };
    let list: Vec<String> = bytes.iter().map(|b| format!("0x{b:02x}")).collect();
    // An array needs an element.
    let list = if list.is_empty() { "0".to_owned() } else { list.join(", ") };
    let _ = writeln!(out, "  static const unsigned char {name}_bytes[] = {{{list}}};");
    let _ = writeln!(out, "  void *{name} = object({name}_bytes, {});", bytes.len());
}

fn scalar(out: &mut String, name: &str, ty: &InputType, input: Option<&Input>) {
    let spelled = spelling(ty).unwrap_or_default();
    let zeros = vec![0; ty.size() as usize];
    let bytes = input.map_or(&zeros[..], |i| &i.bytes[..]);
    let glue = if spelled.ends_with('*') { "" } else { " " };
    let value = match ty {
        InputType::Int { bits, signed: false, .. } => {
            format!("{}u{}", ty.render(bytes), if *bits > 32 { "ll" } else { "" })
        }
        InputType::Int { .. } => match ty.render(bytes).as_str() {
            "-9223372036854775808" => "INT64_MIN".into(),
            text => format!("{text}{}", if ty.size() > 4 { "ll" } else { "" }),
        },
        InputType::Char { .. } | InputType::Bool => {
            let signed = matches!(ty, InputType::Char { signed: true, .. });
            let byte = bytes.first().copied().unwrap_or(0);
            if signed { (byte as i8).to_string() } else { byte.to_string() }
        }
        _ => {
            let list: Vec<String> = bytes.iter().map(|b| format!("0x{b:02x}")).collect();
            let _ = writeln!(out, "  static const unsigned char {name}_bytes[] = {{{}}};", list.join(", "));
            let _ = writeln!(out, "  {spelled}{glue}{name};\n  memcpy(&{name}, {name}_bytes, sizeof {name}_bytes);");
            return;
        }
    };
    let _ = writeln!(out, "  {spelled}{glue}{name} = {value};");
}

fn tail(out: &mut String, run: &Run, framework: Framework) {
    let listed = |failing: bool| run.tests.values().filter(move |t| is_failing(t) == failing).map(|t| t.id);
    match framework {
        Framework::GoogleTest => {}
        Framework::Cmocka => {
            out.push_str("\nint main(void) {\n  const struct CMUnitTest tests[] = {\n");
            let unit = |id: TestId| format!("    cmocka_unit_test({}),\n", id.stem());
            out.extend(listed(false).map(unit));
            out.push_str("#ifdef PLEACH_FAILING\n");
            out.extend(listed(true).map(unit));
            out.push_str("#endif\n  };\n  return cmocka_run_group_tests(tests, NULL, NULL);\n}\n");
            out.extend(listed(true).map(|id| {
                format!(
                    "void (*const {0}_used)(void **) = {0};
",
                    id.stem()
                )
            }));
        }
        Framework::Plain => {
            out.push_str("\nstatic const struct {\n  int number;\n  int fails;\n  void (*run)(void);\n} tests[] = {\n");
            for test in run.tests.values() {
                let fails = u8::from(is_failing(test));
                let _ = writeln!(out, "  {{{}, {fails}, {}}},", test.id, test.id.stem());
            }
            out.push_str(
                "};\n\n/* Without arguments: all tests that do not fail. Else those with these numbers. */\n\
                 int main(int argc, char **argv) {\n  for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {\n    \
                 int wanted = argc < 2 && !tests[i].fails;\n    \
                 for (int k = 1; k < argc; k++) wanted |= atoi(argv[k]) == tests[i].number;\n    \
                 if (!wanted) continue;\n    printf(\"test %d\\n\", tests[i].number);\n    fflush(stdout);\n    \
                 tests[i].run();\n  }\n  return 0;\n}\n",
            );
        }
    }
}

/// What was written, in a sentence.
pub fn describe(run: &Run) -> String {
    let failing = run.tests.values().filter(|t| is_failing(t)).count() as u64;
    let tests = count(run.tests.len() as u64, "test");
    if failing == 0 { tests } else { format!("{tests} ({failing} of them fail or were cut and do not run by default)") }
}
