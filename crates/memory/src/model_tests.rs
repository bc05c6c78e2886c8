use super::*;
use crate::object::{Background, Contents};
use crate::resolve::candidates;
use crate::space::Site;
use pleach_expr::{SymbolKind, SymbolOrigin};

struct Setup {
    terms: Terms,
    space: AddressSpace,
    model: RelocatableMemory,
    condition: TermId,
}

fn setup(resolution: Resolution) -> Setup {
    let mut terms = Terms::new(64);
    let s = terms.symbols.intern(SymbolOrigin::Undefined(0), SymbolKind::Bits(1), || "c".into());
    let condition = terms.var(s);
    Setup { terms, space: AddressSpace::new(64), model: RelocatableMemory::new(resolution, None, true), condition }
}

fn object(space: &mut AddressSpace, size: u64) -> ObjId {
    let contents = Contents::new(size, Background::Zero);
    space.allocate(size, 8, ObjectKind::Heap, Site::new(0, 0), contents).expect("room")
}

/// `ite(c, a, b)`
fn choice(s: &mut Setup, a: ObjId, b: ObjId) -> TermId {
    let (a, b) = (s.terms.base(a), s.terms.base(b));
    s.terms.ite(s.condition, a, b)
}

#[test]
fn faults_say_what_is_wrong() {
    let mut s = setup(Resolution::Fork);
    let (o, freed) = (object(&mut s.space, 16), object(&mut s.space, 16));
    s.space.get_mut(o).unwrap().readonly = true;
    s.space.free(freed);
    assert_eq!(s.model.touch(&s.space, o, AccessKind::Read), Ok(Size::Fixed(16)));
    assert_eq!(s.model.touch(&s.space, o, AccessKind::Write), Err(Fault::Readonly(o)));
    assert_eq!(s.model.touch(&s.space, freed, AccessKind::Read), Err(Fault::Freed(freed)));
    assert_eq!(s.model.touch(&s.space, ObjId(99), AccessKind::Read), Err(Fault::OutOfScope));
    let at = s.space.address(o);
    assert_eq!(s.model.at_number(&s.space, at + 3), Ok((o, 3)));
    assert_eq!(s.model.at_number(&s.space, 8), Err(Fault::Null(8)));
    assert_eq!(s.model.at_number(&s.space, NULL_PAGE), Err(Fault::NoObject(NULL_PAGE)));
}

#[test]
fn targets_and_faults_have_exact_conditions() {
    let mut s = setup(Resolution::Ite);
    let (large, small) = (object(&mut s.space, 16), object(&mut s.space, 4));
    let ptr = choice(&mut s, large, small);
    let found = candidates(&mut s.terms, ptr).unwrap();
    let sorted = s.model.classify(&s.space, &mut s.terms, &found, 8, AccessKind::Read);
    let zero = s.terms.constant(64, 0);
    assert_eq!(sorted.good, [(s.condition, large, zero)]);
    let not = s.terms.not(s.condition);
    assert_eq!(sorted.bad, [(not, Fault::OutOfBounds(small))]);
    assert_eq!(sorted.elsewhere, None);
}

#[test]
fn what_is_written_to_one_of_several_objects_is_read_there() {
    for resolution in [Resolution::Ite, Resolution::SegmentsDynamic] {
        let mut s = setup(resolution);
        let (a, b) = (object(&mut s.space, 8), object(&mut s.space, 8));
        if resolution.joins() {
            s.model.join(&mut s.space, &mut s.terms, &[a, b], Vec::new(), (0, 0)).expect("both are movable");
        }
        let ptr = choice(&mut s, a, b);
        let found = candidates(&mut s.terms, ptr).unwrap();
        let targets = s.model.classify(&s.space, &mut s.terms, &found, 4, AccessKind::Write).good;
        let seven = s.terms.constant(32, 7);
        s.model.write_one_of(&mut s.space, &mut s.terms, ptr, &targets, 4, seven);
        assert_eq!(s.model.read_one_of(&mut s.space, &mut s.terms, ptr, &targets, 4), Value::Int(7), "{resolution:?}");
        let zero = s.terms.constant(32, 0);
        let (only_a, only_b) = (s.terms.ite(s.condition, seven, zero), s.terms.ite(s.condition, zero, seven));
        for (obj, expected) in [(a, only_a), (b, only_b)] {
            let (contents, w) = s.space.contents_mut(obj).unwrap();
            let there = contents.read(&mut s.terms, w.start, 4, obj).to_term(&mut s.terms, 32);
            assert_eq!(there, Some(expected), "{resolution:?}");
        }
    }
}
