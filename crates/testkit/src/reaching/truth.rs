//! Which lines of programs which inputs lead to: many programs in one native process, on every input.

use super::generate::Program;
use crate::engine;
use crate::scratch::Scratch;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::Command;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(300);

const HEAD: &str = r#"
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
static unsigned char hit[4096];
static jmp_buf quit;
#define HIT(n) (hit[n] = 1)
#define QUIT longjmp(quit, 1)
"#;

const DRIVER: &str = r#"
static void enumerate(unsigned long seed, int (*program)(const unsigned char *), const unsigned *bounds, int count) {
  unsigned char in[4] = {0};
  for (;;) {
    memset(hit, 0, sizeof hit);
    if (!setjmp(quit)) program(in);
    printf("%lu ", seed);
    for (int i = 0; i < count; i++) printf("%02x", in[i]);
    for (int n = 0; n < 4096; n++)
      if (hit[n]) printf(" %d", n);
    puts("");
    int i = 0;
    while (i < count && ++in[i] == bounds[i]) in[i++] = 0;
    if (i == count) return;
  }
}
"#;

/// By line: the inputs that lead there.
pub type Truth = BTreeMap<u32, Vec<Vec<u8>>>;

/// The truth about each program, by its seed.
pub fn truths(programs: &[Program]) -> Result<BTreeMap<u64, Truth>, String> {
    let scratch = Scratch::new("truth");
    let (source, binary) = (scratch.file("all.c"), scratch.file("all"));
    let mut text = HEAD.to_owned();
    for p in programs {
        text += &p.marked;
    }
    text += DRIVER;
    text += "int main(void) {\n";
    for p in programs {
        let bounds: Vec<String> = p.bounds.iter().map(u16::to_string).collect();
        let (s, n) = (p.seed, p.bounds.len());
        let _ = writeln!(text, "  enumerate({s}, p{s}_main, (const unsigned[]){{{}}}, {n});", bounds.join(", "));
    }
    text += "  return 0;\n}\n";
    std::fs::write(&source, &text).map_err(|e| e.to_string())?;
    let mut compile = Command::new("clang-19");
    compile.args(["-O0", "-w"]).arg(&source).arg("-o").arg(&binary);
    let built = engine::run(&mut compile, LIMIT).map_err(|e| e.to_string())?;
    if built.code != Some(0) {
        return Err(format!("the marked programs do not compile:\n{}", built.output()));
    }
    let finished = engine::run(&mut Command::new(&binary), LIMIT).map_err(|e| e.to_string())?;
    if finished.code != Some(0) {
        return Err("the marked programs did not get through their inputs".into());
    }
    let mut all: BTreeMap<u64, Truth> = BTreeMap::new();
    for line in finished.stdout.lines() {
        let mut words = line.split(' ');
        let bad = || format!("the driver wrote `{line}`");
        let seed = words.next().and_then(|w| w.parse().ok()).ok_or_else(bad)?;
        let input = words.next().and_then(crate::oracle::bytes).ok_or_else(bad)?;
        let truth = all.entry(seed).or_default();
        for n in words {
            truth.entry(n.parse().map_err(|_| bad())?).or_default().push(input.clone());
        }
    }
    Ok(all)
}
