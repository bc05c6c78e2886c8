//! Limits of an exploration that is a part of another program, which has no watchdog.

use pleach::explore::Limits;
use pleach::{CompileOptions, Engine};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Ends when the time is up, whatever a query does.
#[test]
fn a_query_does_not_outlast_the_time() {
    let search = "unsigned long a, b; klee_make_symbolic(&a, 8, \"a\"); klee_make_symbolic(&b, 8, \"b\");\n\
        if (a > 1 && b > 1 && a < 1ul << 32 && b < 1ul << 32 && a * b == 9223372036854775783ul) return 1;";
    let rewriting = "unsigned long x = klee_int(\"x\"), y = x;\n\
        for (int i = 0; i < 20000; i++) y = ((y >> 3) ^ (x + 3 * i)) + y;\n\
        if (y < 12345678901ul) return 1;";
    for (name, body) in [("search", search), ("rewriting", rewriting)] {
        let file = std::env::temp_dir().join(format!("pleach-limits-{}-{name}.c", std::process::id()));
        std::fs::write(&file, format!("#include <klee/klee.h>\nint main(void) {{ {body} return 0; }}\n")).unwrap();
        let program = pleach::load(&[&file], &CompileOptions::default());
        std::fs::remove_file(&file).unwrap();
        let limits = Limits { max_time: Some(Duration::from_secs(2)), ..Limits::default() };
        let start = Instant::now();
        let found = Engine::builder(Rc::new(program.unwrap())).limits(limits).explore().unwrap();
        let taken = start.elapsed();
        assert!(found.cuts.iter().any(|c| c.reason == "max-time"), "{name}: {:?}", found.cuts);
        // Machines may be busy.
        assert!(taken < Duration::from_secs(5), "{name}: {taken:?}");
    }
}
