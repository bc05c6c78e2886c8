//! A slice of the campaign of loops without end.

use pleach_campaign::endless::{EndlessProgram, MODES, check, generate};
use pleach_campaign::engine::Bounds;
use pleach_campaign::{batch, generate as bounded};
use std::time::Duration;

const BOUNDS: Bounds =
    Bounds { instructions: 60_000, time: Duration::from_secs(20), recheck: 0, audit: 40, modes: "", some: None };

#[test]
fn endless_loops_have_the_errors_that_enumeration_finds() {
    let generated: Vec<EndlessProgram> = (1..21).map(generate).collect();
    let text: String = generated.iter().map(|p| p.text.as_str()).collect();
    let program = batch::compile_text(&text, true).unwrap();
    let mut first_line = bounded::PRELUDE.lines().count() as u32 + 1;
    let (mut safe, mut faulty, mut audited) = (0, 0, 0);
    for p in &generated {
        let outcome = check(&program, p, first_line, MODES[0], BOUNDS).unwrap();
        assert_eq!(outcome.wrong, None, "seed {}\n{}", p.seed, p.text);
        safe += u32::from(outcome.decided && !outcome.faulty);
        faulty += u32::from(outcome.decided && outcome.faulty);
        audited += outcome.audited;
        first_line += p.text.lines().count() as u32;
    }
    assert!(safe > 3 && faulty > 3 && audited > 50, "{safe} proved, {faulty} refuted, {audited} edges audited");
}
