//! Where objects could lie as well.
//!
//! *Invariant*: objects that were there at one time have no byte in common; each keeps its alignment. An object may
//! follow another without a gap, in either order, so that one past the end of the first is the start of the second.
//! What was freed, and a local whose scope has ended, may have lain where a later object lies.

use pleach_memory::space::first_segment;
use pleach_memory::{Extent, ObjId, ObjectKind};
use pleach_state::State;

/// Pairs of objects that are put next to each other or in the same place.
const PAIRS: usize = 12;

/// An object that could have another address.
pub(crate) fn movable(st: &State, obj: ObjId) -> Option<Extent> {
    // Also in a segment: the program knows nothing of it.
    st.memory.extent(obj).filter(|o| o.kind != ObjectKind::Fixed)
}

/// Whether `y` may begin `distance` bytes behind the start of `x`.
pub(crate) fn may_be_at(x: &Extent, y: &Extent, distance: i64) -> bool {
    // Functions are distinct, and lie where no data is.
    if x.kind == ObjectKind::Function || y.kind == ObjectKind::Function {
        return false;
    }
    let aligned = (distance as u64).is_multiple_of(x.align.min(y.align));
    aligned && (!x.coexists(y) || disjoint(x, y, distance))
}

fn disjoint(x: &Extent, y: &Extent, distance: i64) -> bool {
    match u64::try_from(distance) {
        Ok(d) => d >= bytes(x) || d == 0 && bytes(y) == 0,
        Err(_) => distance.unsigned_abs() >= bytes(y),
    }
}

/// A block of no bytes has an address of its own.
fn bytes(o: &Extent) -> u64 {
    if o.kind == ObjectKind::Heap { o.least.max(1) } else { o.least }
}

/// Layouts in which two of the objects touch, or lie in the same place one after the other.
pub(crate) fn touching(objects: &[Extent]) -> Vec<Vec<u64>> {
    let is_data = |i: &usize| objects[*i].kind != ObjectKind::Function;
    let data: Vec<usize> = (0..objects.len()).filter(is_data).collect();
    let pairs = data.iter().flat_map(|&i| data.iter().map(move |&j| (i, j))).filter(|(i, j)| i != j);
    pairs
        .take(PAIRS)
        .flat_map(|(i, j)| {
            let (x, y) = (&objects[i], &objects[j]);
            let behind = x.addr.checked_add(x.most).map(|end| end.next_multiple_of(y.align));
            let again = (!x.coexists(y)).then(|| x.addr.next_multiple_of(y.align));
            [behind, again].into_iter().flatten().map(move |there| {
                let mut layout: Vec<u64> = objects.iter().map(|o| o.addr).collect();
                layout[j] = there;
                layout
            })
        })
        .filter(|layout| is_valid(objects, layout))
        .collect()
}

fn is_valid(objects: &[Extent], layout: &[u64]) -> bool {
    let located = objects.iter().zip(layout).filter(|(o, _)| o.kind != ObjectKind::Function);
    let data: Vec<(&Extent, u64)> = located.map(|(o, at)| (o, *at)).collect();
    let fit = |(x, at): &(&Extent, u64), (y, there): &(&Extent, u64)| may_be_at(x, y, there.wrapping_sub(*at) as i64);
    data.iter().enumerate().all(|(i, x)| data[i + 1..].iter().all(|y| fit(x, y)))
}

/// Other places for an object, from its address, its alignment and the end of all addresses: a little further, in the
/// opposite order, and far away with low bits that are all zeros or all ones. Different objects stay disjoint.
pub(crate) const ELSEWHERE: [fn(u64, u64, u64) -> u64; 5] = [
    |address, align, _| address + align,
    |address, align, _| address + 3 * align,
    |address, align, end| (end - address) / align * align,
    |address, _, end| spread(address, end).unwrap_or(address),
    |address, align, end| spread(address, end).map_or(address, |a| (a + LOW_BITS) / align * align),
];

const LOW_BITS: u64 = (1 << 20) - 1;

/// What is spread of segments, which lie above all other objects, comes behind those.
const OF_SEGMENTS: u64 = 1 << 26;

/// Where there is room for it, the address times 2²⁰.
fn spread(address: u64, end: u64) -> Option<u64> {
    let address = address.checked_sub(first_segment(64)).map_or(address, |within| OF_SEGMENTS + within);
    address.checked_mul(LOW_BITS + 1).filter(|a| *a + LOW_BITS <= end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(id: u32, addr: u64, size: u64, until: u32) -> Extent {
        Extent { id: ObjId(id), addr, least: size, most: size, align: 4, kind: ObjectKind::Global, until }
    }

    #[test]
    fn objects_of_one_time_touch_and_others_meet() {
        let (x, y, gone) = (object(1, 64, 8, u32::MAX), object(3, 128, 4, u32::MAX), object(0, 32, 4, 2));
        let at = |d| may_be_at(&x, &y, d);
        assert_eq!([at(8), at(-4), at(0), at(4), at(12), at(9), at(-8)], [true, true, false, false, true, false, true]);
        assert!(may_be_at(&gone, &y, 0) && !may_be_at(&gone, &x, 0));
        assert_eq!(touching(&[x, y]), [vec![64, 72], vec![132, 128]]);
        assert!(touching(&[gone, y]).contains(&vec![32, 32]));
    }

    #[test]
    fn what_has_no_bytes_may_lie_with_another_unless_it_is_a_block() {
        let (empty, other) = (object(1, 64, 0, u32::MAX), object(3, 128, 4, u32::MAX));
        let block = Extent { kind: ObjectKind::Heap, ..empty };
        assert!(may_be_at(&empty, &other, 0) && may_be_at(&other, &empty, 0));
        assert!(!may_be_at(&block, &other, 0) && !may_be_at(&other, &block, 0));
    }
}
