//! Symbolic inputs for Rust programs.
//!
//! Pleach builds this crate with the program, so that `pleach::any()` needs no entry in `Cargo.toml`. Natively, a
//! replay hands out the values of one test.
#![no_std]

extern crate alloc;

use alloc::vec::Vec;
use core::ffi::c_char;
use core::panic::Location;

extern "C" {
    fn klee_make_symbolic(address: *mut u8, bytes: usize, name: *const c_char);
    fn klee_assume(condition: usize);
}

/// Types that have a symbolic value.
pub trait Arbitrary: Sized {
    /// Any value of the type.
    #[track_caller]
    fn any() -> Self;

    /// Any array of such values.
    #[track_caller]
    fn any_array<const N: usize>() -> [Self; N] {
        let mut all = Vec::with_capacity(N);
        for _ in 0..N {
            all.push(Self::any());
        }
        match all.try_into() {
            Ok(array) => array,
            Err(_) => unreachable!(),
        }
    }
}

/// Any value of the type: the exploration goes through all of them.
#[track_caller]
pub fn any<T: Arbitrary>() -> T {
    T::any()
}

/// A vector of at most `most` elements.
#[track_caller]
pub fn any_vec<T: Arbitrary>(most: usize) -> Vec<T> {
    let length: usize = any();
    assume(length <= most);
    let mut all = Vec::with_capacity(most);
    for _ in 0..length {
        all.push(any());
    }
    all
}

/// Goes on only where the condition holds.
pub fn assume(condition: bool) {
    // SAFETY: the function takes any number.
    unsafe { klee_assume(condition as usize) }
}

/// A function whose parameters have symbolic values.
pub trait Check<Parameters> {
    fn check(self);
}

/// Calls the function with any arguments.
#[track_caller]
pub fn check<P, F: Check<P>>(function: F) {
    function.check()
}

macro_rules! functions {
    ($($name:ident)*) => {
        impl<F: FnOnce($($name),*) -> R, R, $($name: Arbitrary),*> Check<($($name,)*)> for F {
            #[track_caller]
            fn check(self) {
                drop(self($(<$name as Arbitrary>::any()),*));
            }
        }
    };
}

functions!();
functions!(A);
functions!(A B);
functions!(A B C);
functions!(A B C D);
functions!(A B C D E);
functions!(A B C D E G);

/// `any@LINE`, with the line of the call, as a C string.
struct Name([u8; 16]);

impl Name {
    #[track_caller]
    fn of_caller() -> Name {
        let mut name = *b"any@\0\0\0\0\0\0\0\0\0\0\0\0";
        let (mut line, mut digits, mut count) = (Location::caller().line(), [0u8; 10], 0);
        while count == 0 || line > 0 {
            digits[count] = b'0' + (line % 10) as u8;
            line /= 10;
            count += 1;
        }
        for i in 0..count {
            name[4 + i] = digits[count - 1 - i];
        }
        Name(name)
    }
}

macro_rules! numbers {
    ($($ty:ty)*) => {$(
        impl Arbitrary for $ty {
            #[track_caller]
            fn any() -> $ty {
                let name = Name::of_caller();
                let mut value: $ty = 0 as $ty;
                // SAFETY: the object has this size; every pattern of bits is a value; the name is a C string.
                unsafe { klee_make_symbolic((&raw mut value).cast(), size_of::<$ty>(), name.0.as_ptr().cast()) };
                value
            }

            #[track_caller]
            fn any_array<const N: usize>() -> [$ty; N] {
                let name = Name::of_caller();
                let mut all = [0 as $ty; N];
                if N > 0 {
                    // SAFETY: as above.
                    unsafe { klee_make_symbolic((&raw mut all).cast(), size_of_val(&all), name.0.as_ptr().cast()) };
                }
                all
            }
        }
    )*};
}

numbers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64);

impl Arbitrary for bool {
    #[track_caller]
    fn any() -> bool {
        let byte: u8 = any();
        assume(byte < 2);
        byte == 1
    }
}

impl Arbitrary for char {
    #[track_caller]
    fn any() -> char {
        let code: u32 = any();
        let character = char::from_u32(code);
        assume(character.is_some());
        character.unwrap_or('\0')
    }
}

impl Arbitrary for () {
    fn any() {}
}

impl<T: Arbitrary> Arbitrary for Option<T> {
    #[track_caller]
    fn any() -> Option<T> {
        if any() { Some(any()) } else { None }
    }
}

impl<T: Arbitrary, const N: usize> Arbitrary for [T; N] {
    #[track_caller]
    fn any() -> [T; N] {
        T::any_array()
    }
}

macro_rules! tuples {
    ($($name:ident)*) => {
        impl<$($name: Arbitrary),*> Arbitrary for ($($name,)*) {
            #[track_caller]
            fn any() -> Self {
                ($(<$name as Arbitrary>::any(),)*)
            }
        }
    };
}

tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
