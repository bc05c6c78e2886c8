//! Random writes against one description per byte.

use super::*;
use pleach_expr::BaseId;

/// What a byte must be: a number, byte `index` of the value numbered `of`, or never written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Byte {
    Is(u8),
    Part { of: u32, index: u8 },
    Never,
}

/// Byte `index` of the value numbered `of`, by itself.
fn part(of: u32, index: u8) -> Value {
    Value::ptr(BaseId(of), i64::from(index) + 1)
}

fn split(value: Value, bytes: u8, index: u8) -> Value {
    match value {
        Value::Ptr { obj, off: 0 } => part(obj.0, index),
        single => {
            assert_eq!((bytes, index), (1, 0));
            single
        }
    }
}

fn seen(contents: &Contents, at: u64) -> Byte {
    match contents.view(at) {
        ByteView::Concrete(b) => Byte::Is(b),
        ByteView::Background => Byte::Never,
        ByteView::Of { value: Value::Ptr { obj, off: 0 }, index, .. } => Byte::Part { of: obj.0, index },
        ByteView::Of { value: Value::Ptr { obj, off }, index: 0, bytes: 1 } => {
            Byte::Part { of: obj.0, index: (off - 1) as u8 }
        }
        other => panic!("not written: {other:?}"),
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// Everything from `low` on; nothing was written before.
fn check(contents: &Contents, model: &[Byte], low: usize) {
    let mut special = model[..low].iter().filter(|b| **b == Byte::Never).count();
    for (at, &want) in model.iter().enumerate().skip(low) {
        assert_eq!(seen(contents, at as u64), want, "byte {at}");
        special += usize::from(!matches!(want, Byte::Is(_)));
        for n in [1, 2, 3, 4, 8] {
            let Some(bytes) = model.get(at..at + n) else { continue };
            let number = bytes.iter().rev().try_fold(0u64, |acc, b| match b {
                Byte::Is(b) => Some(acc << 8 | u64::from(*b)),
                _ => None,
            });
            let got = contents.read_concrete(at as u64, n);
            assert!(got == number || got.is_none() && at / PAGE != (at + n - 1) / PAGE, "{n} bytes at {at}");
        }
        let run = contents.concrete_slice(at as u64, 16);
        assert!(run.iter().zip(&model[at..]).all(|(b, m)| *m == Byte::Is(*b)));
        assert_eq!(
            run.is_empty(),
            !matches!(want, Byte::Is(_)) || contents.pages.get(at / PAGE).is_none_or(Option::is_none)
        );
    }
    let in_cells: usize = contents.cells().map(|(_, n, _)| usize::from(n)).sum();
    let never = model.iter().filter(|b| **b == Byte::Never).count();
    assert_eq!(in_cells + never, special);
    assert!(contents.cells().is_sorted_by_key(|(at, _, _)| at));
}

#[test]
fn writes_are_seen_byte_by_byte() {
    for seed in 0..40 {
        let random = &mut Random(seed);
        let (start, background) =
            if seed % 2 == 0 { (Byte::Is(0), Background::Zero) } else { (Byte::Never, Background::Uninit) };
        // Around the end of a page, or a small object.
        let (size, low) = if seed % 4 < 2 { (PAGE as u64 + 40, PAGE as u64 - 40) } else { (48, 0) };
        let mut contents = Contents::new(size, background);
        let mut model = vec![start; size as usize];
        for step in 0..200u32 {
            let n = [1, 2, 4, 8, 3, 13][random.below(6) as usize];
            let at = low + random.below(size - low - n + 1);
            let place = at as usize..(at + n) as usize;
            match random.below(5) {
                0 if n <= 8 => {
                    let v = random.below(1 << 30) * 0x1_0000_0001;
                    if contents.write_concrete(at, n as usize, v) {
                        for (i, b) in model[place].iter_mut().enumerate() {
                            *b = Byte::Is((v >> (8 * i)) as u8);
                        }
                    }
                }
                1 => {
                    let data: Vec<u8> = (0..n).map(|_| random.below(256) as u8).collect();
                    if contents.write_slice(at, &data) {
                        for (b, d) in model[place].iter_mut().zip(data) {
                            *b = Byte::Is(d);
                        }
                    }
                }
                2 => {
                    let byte = random.below(256);
                    contents.write_byte(at, Value::Int(byte), &mut split);
                    model[at as usize] = Byte::Is(byte as u8);
                }
                3 if background == Background::Uninit => {
                    contents.write_background(at, &mut split);
                    model[at as usize] = Byte::Never;
                }
                _ => {
                    contents.write_cell(at, n as usize, Value::ptr(BaseId(step), 0), &mut split);
                    for (i, b) in model[place].iter_mut().enumerate() {
                        *b = Byte::Part { of: step, index: i as u8 };
                    }
                    let whole = at as usize / PAGE == (at + n - 1) as usize / PAGE;
                    assert_eq!(contents.read_cell(at, n as usize), whole.then_some(Value::ptr(BaseId(step), 0)));
                }
            }
            if step % 10 == 0 {
                check(&contents, &model, low as usize);
            }
        }
        check(&contents, &model, low as usize);
    }
}

#[test]
fn a_number_over_a_whole_cell_needs_no_splitting() {
    let mut contents = Contents::new(16, Background::Zero);
    contents.write_cell(8, 8, Value::ptr(BaseId(1), 0), &mut split);
    assert!(contents.write_concrete(8, 8, 7) && contents.read_concrete(8, 8) == Some(7));
    contents.write_cell(8, 8, Value::ptr(BaseId(1), 0), &mut split);
    assert!(!contents.write_concrete(6, 4, 7), "half of a cell");
    assert!(contents.write_slice(0, &[1; 16]) && contents.cells().next().is_none());
}
