//! The generated C file that starts the program: `pleach_entry`, called by the replay library's `main`.

use std::fmt::Write;

use pleach_report::{EntryKind, InputType, Parameter, RunInfo};

/// C source of the driver for a run's entry.
pub(crate) fn source(info: &RunInfo) -> String {
    let body = match &info.entry_kind {
        EntryKind::Main => "extern int __real_main(int, char **, char **);\n\
            int pleach_entry(int argc, char **argv, char **envp) { return __real_main(argc, argv, envp); }\n"
            .to_owned(),
        EntryKind::Fuzz => fuzz(&info.entry),
        EntryKind::Function { parameters, returns } => function(&info.entry, parameters, returns.as_ref()),
    };
    let errors = error_functions(&info.error_functions);
    format!("#include <stddef.h>\n#include <stdint.h>\n#include <stdlib.h>\n#include <sys/types.h>\n{errors}{body}")
}

/// Whether the driver names nothing of the program but `main`, so that it can be compiled with the library.
pub(crate) fn names_nothing(info: &RunInfo) -> bool {
    matches!(info.entry_kind, EntryKind::Main) && info.error_functions.is_empty()
}

/// The addresses that the library compares with those of the functions entered.
fn error_functions(names: &[String]) -> String {
    let mut out = String::new();
    for name in names {
        let _ = writeln!(out, "extern void {}(void) __attribute__((weak));", identifier(name));
    }
    let list: Vec<_> = names.iter().map(|n| format!("(void *){}, ", identifier(n))).collect();
    let _ = writeln!(out, "void *const pleach_error_functions[] = {{{}0}};", list.concat());
    let _ = writeln!(out, "const unsigned pleach_error_function_count = {};", names.len());
    out
}

fn fuzz(entry: &str) -> String {
    let entry = identifier(entry);
    format!(
        "extern unsigned char *pleach_fuzz_data(size_t *);\n\
         extern int {entry}(const unsigned char *, size_t);\n\
         int pleach_entry(int argc, char **argv, char **envp) {{\n  size_t size;\n  \
         unsigned char *data = pleach_fuzz_data(&size);\n  (void)argc, (void)argv, (void)envp;\n  \
         {entry}(data, size);\n  free(data);\n  return 0;\n}}\n"
    )
}

/// The result of the entry function is ignored: `--entry f` ends with code 0, whatever `f` returns. Its type
/// matters anyway: a structure may be returned through a hidden parameter.
fn function(entry: &str, parameters: &[Parameter], returns: Option<&InputType>) -> String {
    let mut types = Types::default();
    let mut body = String::new();
    let mut declared = Vec::new();
    for (i, parameter) in parameters.iter().enumerate() {
        let ty = &parameter.ty;
        if parameter.by_pointer {
            let _ = writeln!(body, "  void *p{i} = pleach_pointer_parameter({});", quote(&parameter.name));
            declared.push("void *".to_owned());
        } else {
            let named = types.name(ty, &format!("pleach_parameter_{i}"));
            let _ = writeln!(body, "  {named} p{i};");
            let _ = writeln!(body, "  pleach_parameter(&p{i}, sizeof p{i}, {});", quote(&parameter.name));
            declared.push(named);
        }
    }
    let result = returns.map_or("void".to_owned(), |ty| types.name(ty, "pleach_result"));
    let list = if declared.is_empty() { "void".to_owned() } else { declared.join(", ") };
    let arguments: Vec<_> = (0..parameters.len()).map(|i| format!("p{i}")).collect();
    let (entry, arguments) = (identifier(entry), arguments.join(", "));
    format!(
        "{}extern void pleach_parameter(void *, size_t, const char *);\n\
         extern void *pleach_pointer_parameter(const char *);\nextern {result} {entry}({list});\n\
         int pleach_entry(int argc, char **argv, char **envp) {{\n  (void)argc, (void)argv, (void)envp;\n{body}  \
         {entry}({arguments});\n  return 0;\n}}\n",
        types.definitions
    )
}

/// Types spelled without the program's typedefs, which the driver cannot see.
#[derive(Default)]
struct Types {
    definitions: String,
    count: usize,
}

impl Types {
    /// Gives `ty` a name of its own.
    fn name(&mut self, ty: &InputType, name: &str) -> String {
        let declaration = self.declare(ty, name);
        let _ = writeln!(self.definitions, "typedef {declaration};");
        name.to_owned()
    }

    fn declare(&mut self, ty: &InputType, name: &str) -> String {
        match ty {
            InputType::Int { bits, signed, .. } => match bits {
                8 | 16 | 32 | 64 => format!("{}int{bits}_t {name}", if *signed { "" } else { "u" }),
                128 => format!("{}__int128 {name}", if *signed { "" } else { "unsigned " }),
                _ => format!("{}_BitInt({bits}) {name}", if *signed { "" } else { "unsigned " }),
            },
            InputType::Char { signed, .. } => format!("{} char {name}", if *signed { "signed" } else { "unsigned" }),
            InputType::Bool => format!("_Bool {name}"),
            InputType::Float { bits: 32, .. } => format!("float {name}"),
            InputType::Float { bits: 64, .. } => format!("double {name}"),
            InputType::Float { .. } => format!("long double {name}"),
            InputType::Pointer { .. } => format!("void *{name}"),
            InputType::Array { elem, count } => self.declare(elem, &format!("{name}[{count}]")),
            InputType::Bytes(n) => format!("unsigned char {name}[{n}]"),
            InputType::Union { size, .. } => self.define(&format!("  unsigned char all[{size}];\n"), name),
            InputType::Struct { fields, .. } => {
                let mut members = String::new();
                for (i, field) in fields.iter().enumerate() {
                    let member = self.declare(&field.ty, &format!("m{i}"));
                    let _ = writeln!(members, "  {member};");
                }
                self.define(&members, name)
            }
        }
    }

    fn define(&mut self, members: &str, name: &str) -> String {
        let tag = format!("struct pleach_type_{}", self.count);
        self.count += 1;
        let _ = writeln!(self.definitions, "{tag} {{\n{members}}};");
        format!("{tag} {name}")
    }
}

/// The name without anything that could not stand in C.
fn identifier(name: &str) -> String {
    name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect()
}

fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for b in text.bytes() {
        match b {
            b'"' | b'\\' | b'?' | 0..=0x1f | 0x7f.. => {
                let _ = write!(out, "\\{b:03o}");
            }
            _ => out.push(b as char),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_inject_code() {
        assert_eq!(identifier("f(); system(\"x\")"), "fsystemx");
        assert_eq!(quote("a\"b\\\n"), "\"a\\042b\\134\\012\"");
    }

    #[test]
    fn parameters_by_value_and_by_pointer() {
        let parameters = vec![
            Parameter { name: "n".into(), ty: InputType::int(), by_pointer: false },
            Parameter { name: "s".into(), ty: InputType::array(InputType::char(), 8), by_pointer: true },
        ];
        let info = RunInfo {
            entry: "f".into(),
            entry_kind: EntryKind::Function { parameters, returns: None },
            ..Default::default()
        };
        let text = source(&info);
        assert!(text.contains("extern void f(pleach_parameter_0, void *);"), "{text}");
        assert!(text.contains("void *p1 = pleach_pointer_parameter(\"s\");"), "{text}");
    }
}
