use super::program;
use crate::Program;
use crate::pointsto::{Partition, partition};

const PROGRAM: &str = "
target \"x86_64-pc-linux-gnu\" ptr 8
global $a size 4 align 4 = zero
global $b size 4 align 4 = zero
global $c size 4 align 4 = zero
global $d size 4 align 4 = zero
global $e size 4 align 4 = zero
global $f size 4 align 4 = zero
global $g size 4 align 4 = zero
global $box size 8 align 8 = zero
global $other size 8 align 8 = zero
global $table size 8 align 8 = bytes \"0000000000000000\" { 0: $g }
func @main(%0 i32) -> (i32) {
  slot %0 i32 slot %1 ptr slot %2 ptr slot %3 ptr slot %4 ptr slot %5 ptr slot %6 i1
  object 0 \"q\" align 16
b0:
  %5 = alloca 16, i32 i32 1, object 0
  %6 = cmp sgt i32 %0, i32 1
  %1 = select ptr %6, $a, $b
  store i32 %1, i32 1
  call @put(ptr $box, ptr $c)
  call @put(ptr $box, ptr $d)
  %4 = load ptr $box
  store i32 %4, i32 2
  %1 = select ptr %6, @id, @pick
  %4 = icall %1(ptr $e)
  store i32 %4, i32 3
  store i32 $f, i32 4
  %2 = call @malloc(i64 i64 4)
  %3 = call @malloc(i64 i64 4)
  %1 = call @malloc(i64 i64 4)
  store i32 %1, i32 6
  store ptr %5, %2
  %4 = gep %5, 8, []
  store ptr %4, %3
  memcpy $other, %5, i64 i64 8
  %5 = load ptr $other
  store i32 %5, i32 5
  %4 = load ptr $table
  store i32 %4, i32 7
  return (i32 i32 0)
}
func @put(%0 ptr, %1 ptr) -> () { slot %0 ptr slot %1 ptr b0: store ptr %0, %1 return () }
func @id(%0 ptr) -> (ptr) { slot %0 ptr b0: return (ptr %0) }
func @pick(%0 ptr) -> (ptr) { slot %0 ptr b0: return (ptr %0) }
func @malloc(%0 i64) -> (ptr) { slot %0 i64 }
";

/// The class of a global by its name.
fn class(p: &Program, of: &Partition, name: &str) -> u32 {
    let index = p.globals.iter().position(|g| g.name == name).unwrap();
    of.of_global(index as u32).unwrap()
}

#[test]
fn what_one_access_may_mean_belongs_together() {
    let p = program(PROGRAM);
    let of = partition(&p);
    let class = |name: &str| class(&p, &of, name);
    // a choice between addresses; the arguments of two calls, which are not distinguished
    assert_eq!(class("a"), class("b"));
    assert_eq!(class("c"), class("d"));
    // accesses to one object each, however the pointer came there: through a call by pointer, a constant, an
    // initialiser
    let alone = ["a", "c", "e", "f", "g"].map(class);
    for (i, x) in alone.iter().enumerate() {
        assert!(!alone[..i].contains(x), "{alone:?}");
    }
}

#[test]
fn allocations_are_told_apart_by_their_instructions() {
    let p = program(PROGRAM);
    let of = partition(&p);
    let main = p.function_named("main").unwrap();
    let is_malloc = |i: &crate::Inst| matches!(i, crate::Inst::Call { callee: crate::Callee::Direct(f), .. } if p.function(*f).name == "malloc");
    let calls = p.function(main).insts.iter().enumerate().filter(|(_, i)| is_malloc(i)).map(|(k, _)| k as u32);
    let classes: Vec<u32> = calls.map(|k| of.of_site(main.0, k).unwrap()).collect();
    let [first, second, third] = classes[..] else { panic!("{classes:?}") };
    // Both go into one array and come out of it by a copy; the third stays in its variable.
    assert_eq!(first, second);
    assert_ne!(first, third);
    assert_eq!(of.of_site(main.0, u32::MAX), None);
    assert_eq!(of.of_global(u32::MAX), None);
}
