//! Functions of the standard library that are replaced by others, in textual IR.
//!
//! - `std::rt::lang_start_internal`, where a program starts, looks at the machine (open files, the stack, signals),
//!   keeps the arguments, and calls the program's `main` through a table. Here only the last two are done: what it looks
//!   at is the same for every program.
//! - `main` has no parameters where nothing looks at the arguments.
//! - Threads are not supported: where one begins, a function is called that nobody has.
//! - The keys of hash tables are random. Here they are fixed, which the run says that it assumes.
//!
//! A function of another form than the known one stays as it is.

/// The variables of `std::env::args`.
pub(super) const ARGUMENTS: [&str; 2] = ["3std3sys4args4unix3imp4ARGC.0", "3std3sys4args4unix3imp4ARGV.0"];

/// New bodies by the names of their functions, and what they use.
#[derive(Default)]
pub(super) struct Replaced<'t> {
    pub functions: Vec<(&'t [u8], Vec<u8>)>,
    pub declarations: String,
}

impl<'t> Replaced<'t> {
    /// `arguments`: whether something looks at them. `find`: a function or variable of the module whose name is as
    /// wanted, and its text.
    pub fn new(arguments: bool, find: impl Fn(&dyn Fn(&[u8]) -> bool) -> Option<(&'t [u8], &'t [u8])>) -> Replaced<'t> {
        let find = |path: &'static str| {
            let (part, end) = path.split_once('*').unwrap_or(("", path));
            let named = |n: &[u8]| {
                let mangled = std::str::from_utf8(n).is_ok_and(|n| n.starts_with("_RNv") && n.contains(part));
                n == path.as_bytes() || mangled && n.ends_with(end.as_bytes())
            };
            let (name, text) = find(&named)?;
            Some((std::str::from_utf8(name).ok()?, std::str::from_utf8(text).ok()?))
        };
        let mut all = Replaced::default();
        all.start(arguments, &find);
        all.keys(&find);
        all.threads(&find);
        all
    }

    pub fn body(&self, name: &[u8]) -> Option<&[u8]> {
        self.functions.iter().find(|(n, _)| *n == name).map(|(_, text)| text.as_slice())
    }

    fn start(&mut self, arguments: bool, find: &impl Fn(&'static str) -> Option<(&'t str, &'t str)>) {
        let Some((name, text)) = find("3std2rt19lang_start_internal") else { return };
        let header = text.lines().next().unwrap_or_default();
        let parameters = header.split_once(&format!("@{name}(")).map_or("", |(_, p)| p);
        let types: Vec<&str> = parameters.split(", ").filter_map(|p| p.split(' ').next()).collect();
        // A table of six entries: the last one is the function.
        let known = types == ["ptr", "ptr", "i64", "ptr", "i8"] && header.contains(" i64 @");
        if !known || !parameters.contains("dereferenceable(48)") {
            return;
        }
        let mut out = format!("define internal i64 @{name}(ptr %0, ptr %1, i64 %2, ptr %3, i8 %4) {{\n");
        for (path, value) in ARGUMENTS.into_iter().zip(["i64 %2", "ptr %3"]) {
            if let Some((variable, _)) = find(path).filter(|_| arguments) {
                out += &format!("  store {value}, ptr @{variable}, align 8\n");
            }
        }
        out += "  %at = getelementptr i8, ptr %1, i64 40\n  %main = load ptr, ptr %at, align 8\n";
        out += "  %status = call i32 %main(ptr %0)\n  %wide = sext i32 %status to i64\n  ret i64 %wide\n}\n";
        self.functions.push((name.as_bytes(), out.into_bytes()));
        let body = find("main").map_or("", |(_, text)| text);
        let called = body.split_once(" = call i64 ").and_then(|(_, call)| call.split_once(", "));
        if let Some((called, _)) = called.filter(|_| !arguments && body.contains("@main(i32 %0, ptr %1)")) {
            let out = format!(
                "define i32 @main() {{\n  %wide = call i64 {called}, i64 0, ptr null, i8 0)\n  \
                 %status = trunc i64 %wide to i32\n  ret i32 %status\n}}\n"
            );
            self.functions.push((b"main", out.into_bytes()));
        }
    }

    fn threads(&mut self, find: &impl Fn(&'static str) -> Option<(&'t str, &'t str)>) {
        let Some((name, text)) = find("3std3sys6thread4unix*6Thread3new") else { return };
        let header = text.lines().next().unwrap_or_default();
        if header.ends_with('{') {
            let body = format!("{header}\n  call void @\"std::thread::spawn\"()\n  unreachable\n}}\n");
            self.functions.push((name.as_bytes(), body.into_bytes()));
            self.declarations += "declare void @\"std::thread::spawn\"()\n";
        }
    }

    fn keys(&mut self, find: &impl Fn(&'static str) -> Option<(&'t str, &'t str)>) {
        const TEXT: &str = "hash tables have fixed keys, and so one order of their elements";
        let Some((name, text)) = find("3std3sys6random5linux19hashmap_random_keys") else { return };
        if !text.contains(&format!("{{ i64, i64 }} @{name}()")) {
            return;
        }
        let body = format!(
            "define internal {{ i64, i64 }} @{name}() {{\n  call void @__pleach_assume(ptr @pleach.keys)\n  \
             ret {{ i64, i64 }} {{ i64 7237128888997146477, i64 8387220255154660723 }}\n}}\n"
        );
        self.functions.push((name.as_bytes(), body.into_bytes()));
        self.declarations += &format!(
            "@pleach.keys = private constant [{} x i8] c\"{TEXT}\\00\"\ndeclare void @__pleach_assume(ptr)\n",
            TEXT.len() + 1
        );
    }
}
