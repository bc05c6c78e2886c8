//! Printing, reading back, SMT-LIB, shapes, substitution.

use pleach_expr::parse::Mode;
use pleach_expr::simplify::catalogue::catalogue;
use pleach_expr::{BaseId, TermId, Terms};
use rustc_hash::FxHashMap;

fn parse(terms: &mut Terms, text: &str) -> TermId {
    terms.parse(text, Mode::Rewritten).unwrap_or_else(|e| panic!("{text}: {e}"))
}

#[test]
fn what_is_printed_reads_back() {
    let mut terms = Terms::new(64);
    let all = catalogue(&mut terms).expect("the catalogue parses");
    for i in all {
        for t in [i.lhs, i.rhs] {
            let text = terms.show(t);
            assert_eq!(terms.parse(&text, Mode::Raw), Ok(t), "{text}");
        }
    }
    for text in [
        "|a name (odd)|:7",
        "(forall i:32 n:32 (ult i:32 (zext 32 (read a[4]:8 i:32))))",
        "(fto_signed 32 (ffma x:64 (fround 3 y:64) (fresize 64 z:32)))",
        "(let ($1 (mul x:8 y:8)) (udiv $1 (neg $1)))",
        "0x123456789abcdef0123456789:130",
    ] {
        let t = parse(&mut terms, text);
        assert_eq!(terms.show(t), text);
    }
}

#[test]
fn what_is_no_term_is_refused() {
    let mut terms = Terms::new(64);
    for text in
        ["", "(", ")", "(add x:8)", "(foo x:8)", "x", "5", "$1", "x:8 y:8", "(extract 1 x:8)", "x:0", "(let)", "0xg:8"]
    {
        assert!(terms.parse(text, Mode::Raw).is_err(), "{text}");
    }
}

#[test]
fn smtlib_declares_defines_and_asserts() {
    let mut terms = Terms::new(64);
    let p = parse(&mut terms, "(ult (mul x:8 y:8) 5:8)");
    let q = parse(&mut terms, "(eq (udiv (mul x:8 y:8) z:8) 3:8)");
    let text = terms.smtlib(&[p, q]);
    assert_eq!(
        text,
        "(set-logic ALL)\n\
         (declare-const |x!0| (_ BitVec 8))\n\
         (declare-const |y!1| (_ BitVec 8))\n\
         (declare-const |z!2| (_ BitVec 8))\n\
         (define-fun t1 () (_ BitVec 8) (bvmul |x!0| |y!1|))\n\
         (assert (bvult t1 (_ bv5 8)))\n\
         (assert (= (bvudiv t1 |z!2|) (_ bv3 8)))\n\
         (check-sat)\n"
    );
    let all = parse(&mut terms, "(forall i:8 z:8 (or (ult (mul i:8 y:8) 5:8) (ult 9:8 (mul i:8 y:8))))");
    let text = terms.smtlib(&[all]);
    assert!(text.contains("(define-fun t1 ((|i!4| (_ BitVec 8))) (_ BitVec 8) (bvmul"), "{text}");
    let guarded = "(forall ((|i!4| (_ BitVec 8))) (=> (bvult |i!4| |z!2| ) (or (bvult (_ bv9 8) (t1 |i!4|)";
    assert!(text.contains(guarded), "{text}");
}

#[test]
fn shapes_forget_numerals_only() {
    let mut terms = Terms::new(64);
    let a = parse(&mut terms, "(ult (add x:32 5:32) 9:32)");
    let b = parse(&mut terms, "(ult (add x:32 6:32) 11:32)");
    let c = parse(&mut terms, "(ult (add y:32 6:32) 11:32)");
    assert_eq!(terms.shape(a), terms.shape(b));
    assert_ne!(terms.shape(b), terms.shape(c));
}

#[test]
fn substitution_replaces_all_at_once_and_simplifies() {
    let mut terms = Terms::new(64);
    let t = parse(&mut terms, "(add (mul x:32 y:32) x:32)");
    let (x, y) = (parse(&mut terms, "x:32"), parse(&mut terms, "y:32"));
    let map: FxHashMap<TermId, TermId> = [(x, y), (y, x)].into_iter().collect();
    let swapped = terms.substitute(t, &map);
    assert_eq!(swapped, parse(&mut terms, "(add (mul y:32 x:32) y:32)"));
    let map: FxHashMap<TermId, TermId> = [(y, terms.constant(32, 1))].into_iter().collect();
    let simple = terms.substitute(t, &map);
    assert_eq!(simple, parse(&mut terms, "(mul x:32 2:32)"));
    // a condition may be replaced as a whole
    let c = parse(&mut terms, "(ult x:32 5:32)");
    let t = parse(&mut terms, "(ite (ult x:32 5:32) x:32 y:32)");
    let map: FxHashMap<TermId, TermId> = [(c, Terms::TRUE)].into_iter().collect();
    assert_eq!(terms.substitute(t, &map), x);
}

#[test]
fn pointers_lose_their_base_where_it_does_not_matter() {
    let mut terms = Terms::new(64);
    let e = parse(&mut terms, "(eq (add (add @1 (mul i:64 4:64)) 8:64) (add @1 (add (mul i:64 4:64) j:64)))");
    assert_eq!(e, parse(&mut terms, "(eq 8:64 j:64)"));
    assert!(terms.bases(e).is_empty());
    let other = parse(&mut terms, "(eq (add @1 i:64) (add @2 8:64))");
    assert_eq!(terms.bases(other), vec![BaseId(1), BaseId(2)]);
    let p = parse(&mut terms, "(sub (add (add @1 i:64) 8:64) 4:64)");
    assert_eq!(terms.show(p), "(add @1 (add i:64 4:64))");
    let address = terms.constant(64, 100);
    let bound = terms.substitute_bases(p, &mut |_| address);
    assert_eq!(bound, parse(&mut terms, "(add i:64 104:64)"));
}

#[test]
fn bytes_put_together_are_one_word_again() {
    let mut terms = Terms::new(64);
    let t = parse(
        &mut terms,
        "(or (or (or (zext 32 (extract 0 8 x:32)) (shl (zext 32 (extract 8 8 x:32)) 8:32))
             (shl (zext 32 (extract 16 8 x:32)) 16:32)) (shl (zext 32 (extract 24 8 x:32)) 24:32))",
    );
    assert_eq!(terms.show(t), "x:32");
    let t = parse(&mut terms, "(eq (add (mul (sext 64 i:32) 4:64) 8:64) 16:64)");
    assert_eq!(terms.show(t), "(eq i:32 2:32)");
}
