#![no_std]
#![no_main]
// A parser of a three-byte command; one input makes it read beyond its table.
extern "C" {
    fn klee_make_symbolic(addr: *mut u8, n: usize, name: *const u8);
    fn abort() -> !;
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    unsafe { abort() }
}

static TABLE: [u8; 10] = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3];

fn checked(command: &[u8]) -> Option<u8> {
    match command {
        [b'g', digit @ b'0'..=b'9', _] => TABLE.get((digit - b'0') as usize).copied(),
        [b'p', a, b] => a.checked_add(*b),
        [b'i', a, b] => Some(TABLE[(*a / 32 + *b / 64) as usize]),
        _ => None,
    }
}

#[no_mangle]
pub extern "C" fn main() -> i32 {
    let mut command = [0u8; 3];
    unsafe { klee_make_symbolic(command.as_mut_ptr(), 3, c"command".as_ptr().cast()) };
    match checked(&command) {
        Some(n) if n == 9 => 1,
        Some(_) => 2,
        None => 0,
    }
}
