use super::*;
use crate::object::{Background, Contents};
use pleach_expr::{SymbolKind, SymbolOrigin, TermId};

/// `ite(c, first, second)`, and which pairs it was given.
struct Two {
    condition: TermId,
    seen: Vec<(Value, Value, u16)>,
}

impl Choice for Two {
    fn choose(&mut self, terms: &mut Terms, values: &[Value], bits: u16) -> Value {
        let [a, b] = values[..] else { panic!("two members") };
        self.seen.push((a, b, bits));
        let (a, b) = (a.to_term(terms, bits).unwrap(), b.to_term(terms, bits).unwrap());
        let t = terms.ite(self.condition, a, b);
        Value::from_term(terms, t)
    }
}

fn setup() -> (Terms, Two, AddressSpace) {
    let mut terms = Terms::new(64);
    let s = terms.symbols.intern(SymbolOrigin::Undefined(0), SymbolKind::Bits(1), || "c".into());
    let condition = terms.var(s);
    (terms, Two { condition, seen: Vec::new() }, AddressSpace::new(64))
}

fn object(space: &mut AddressSpace, size: u64, background: Background) -> ObjId {
    space.allocate(size, 8, ObjectKind::Heap, Site::new(0, 0), Contents::new(size, background)).expect("room")
}

fn write(space: &mut AddressSpace, terms: &mut Terms, o: ObjId, off: u64, n: usize, v: u64) {
    space.get_mut(o).unwrap().contents.write(terms, off, n, Value::Int(v));
}

#[test]
fn only_what_differs_is_chosen_between() {
    let (mut terms, mut two, mut a) = setup();
    let (o, other) = (object(&mut a, 16, Background::Zero), object(&mut a, 16, Background::Zero));
    write(&mut a, &mut terms, other, 0, 8, 77);
    let mut b = a.clone();
    write(&mut a, &mut terms, o, 4, 4, 0xffff_ffff);
    write(&mut b, &mut terms, o, 4, 4, 3);
    let m = AddressSpace::merge(&[&a, &b], false, &mut terms, &mut two).expect("alike");
    assert_eq!(two.seen, [(Value::Int(0xffff_ffff), Value::Int(3), 32)]);
    let read = |s: &AddressSpace, o: ObjId, off| s.get(o).unwrap().contents.read_concrete(off, 4);
    assert_eq!((read(&m, o, 0), read(&m, o, 4), read(&m, other, 0)), (Some(0), None, Some(77)));
}

#[test]
fn a_pointer_and_null_are_chosen_between_as_a_whole() {
    let (mut terms, mut two, mut a) = setup();
    let (o, p) = (object(&mut a, 8, Background::Zero), object(&mut a, 8, Background::Zero));
    let mut b = a.clone();
    a.get_mut(o).unwrap().contents.write(&mut terms, 0, 8, Value::ptr(p, 4));
    write(&mut b, &mut terms, o, 0, 8, 0);
    AddressSpace::merge(&[&a, &b], false, &mut terms, &mut two).expect("alike");
    assert_eq!(two.seen, [(Value::ptr(p, 4), Value::Int(0), 64)]);
}

#[test]
fn a_byte_inside_a_word_is_chosen_between_alone() {
    let (mut terms, mut two, mut a) = setup();
    let o = object(&mut a, 8, Background::Uninit);
    let t = terms.symbols.intern(SymbolOrigin::Undefined(1), SymbolKind::Bits(32), || "t".into());
    let t = terms.var(t);
    a.get_mut(o).unwrap().contents.write(&mut terms, 0, 4, Value::Term(t));
    let mut b = a.clone();
    write(&mut b, &mut terms, o, 1, 1, 9);
    let m = AddressSpace::merge(&[&a, &b], false, &mut terms, &mut two).expect("alike");
    assert_eq!(two.seen.len(), 1);
    assert_eq!((two.seen[0].1, two.seen[0].2), (Value::Int(9), 8));
    // The bytes around it are what they were.
    let mut c = m.get(o).unwrap().contents.clone();
    let low = terms.extract(t, 0, 8);
    assert_eq!(c.read(&mut terms, 0, 1, o), Value::Term(low));
}

#[test]
fn written_on_one_side_and_never_on_the_other() {
    let (mut terms, mut two, mut a) = setup();
    let o = object(&mut a, 4, Background::Uninit);
    let b = a.clone();
    write(&mut a, &mut terms, o, 0, 1, 5);
    let m = AddressSpace::merge(&[&a, &b], false, &mut terms, &mut two).expect("alike");
    assert_eq!(two.seen.len(), 1);
    assert!(matches!(two.seen[0], (Value::Int(5), Value::Term(_), 8)), "{:?}", two.seen);
    assert!(matches!(m.get(o).unwrap().contents.view(1), crate::ByteView::Background));
}

#[test]
fn objects_of_one_side_are_refused() {
    let (mut terms, mut two, a) = setup();
    let mut b = a.clone();
    object(&mut b, 4, Background::Zero);
    let merged = |a: &AddressSpace, b: &AddressSpace, terms: &mut Terms, two: &mut Two| {
        AddressSpace::merge(&[a, b], false, terms, two).map(|s| s.len())
    };
    assert_eq!(merged(&a, &b, &mut terms, &mut two), Err(SpaceConflict::ObjectOfOneSide));
    assert_eq!(AddressSpace::merge(&[&a, &b], true, &mut terms, &mut two).map(|s| s.get(ObjId(0)).is_some()), Ok(true));
    let mut c = b.clone();
    c.free(ObjId(0));
    assert_eq!(merged(&c, &b, &mut terms, &mut two), Err(SpaceConflict::EndedOnOneSide));
    assert_eq!(merged(&a, &c, &mut terms, &mut two), Ok(1), "what is gone disturbs nobody");
    let mut d = a.clone();
    object(&mut d, 8, Background::Zero);
    assert_eq!(merged(&d, &b, &mut terms, &mut two), Err(SpaceConflict::DifferentObjects));
}

#[test]
fn sizes_that_differ_become_one_term_with_room_for_both() {
    let (mut terms, mut two, mut a) = setup();
    let n = terms.symbols.intern(SymbolOrigin::Undefined(1), SymbolKind::Bits(64), || "n".into());
    let n = terms.var(n);
    let contents = Contents::new(24, Background::Zero);
    let size = Size::Symbolic { size: n, capacity: 24 };
    let o = a.allocate(size, 8, ObjectKind::Heap, Site::new(0, 0), contents).expect("room");
    let mut b = a.clone();
    a.narrow(o, 9);
    b.fix_size(o, 12);
    let mut m = AddressSpace::merge(&[&a, &b], false, &mut terms, &mut two).expect("alike");
    let twelve = terms.constant(64, 12);
    let either = terms.ite(two.condition, n, twelve);
    assert_eq!(m.get(o).unwrap().size(), Size::Symbolic { size: either, capacity: 12 });
    m.free(o);
    assert_eq!(m.live_bytes, 0);
}
