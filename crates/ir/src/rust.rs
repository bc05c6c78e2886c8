//! Functions of Rust's own libraries that the engine knows, by their mangled names.

/// The function of `core::panicking` that this is, if it is one that panics.
pub fn panic_function(mangled: &str) -> Option<&str> {
    if !mangled.starts_with("_R") && !mangled.starts_with("_ZN") {
        return None;
    }
    let (_, after) = mangled.split_once("4core9panicking")?;
    let mut parts = identifiers(after);
    let name = match parts.next()? {
        "panic_const" => parts.next()?,
        name => name,
    };
    let panics = name.starts_with("panic") || name.starts_with("assert_") && name.contains("failed");
    (panics || matches!(name, "unreachable_display" | "const_panic_fmt")).then_some(name)
}

/// The identifiers with their lengths before them that the text begins with.
fn identifiers(mut rest: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (length, after) = rest.split_at(digits);
        let (name, after) = after.split_at_checked(length.parse().ok()?)?;
        rest = after;
        Some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_panic() {
        let is = |mangled, name| assert_eq!(panic_function(mangled), name, "{mangled}");
        is("_RNvNtCsgEmfK2I1SDS_4core9panicking9panic_fmt", Some("panic_fmt"));
        is("_ZN4core9panicking18panic_bounds_check17h0123456789abcdefE", Some("panic_bounds_check"));
        is("_ZN4core9panicking11panic_const24panic_const_add_overflow17hE", Some("panic_const_add_overflow"));
        is("_RINvNtCsgEmfK2I1SDS_4core9panicking13assert_failedllECs_3std", Some("assert_failed"));
        is("_RNvXNtCsgEmfK2I1SDS_4core9panickingNtB2_10AssertKind3fmt", None);
        is("_ZN3std9panicking11begin_panic17hE", None);
        is("4core9panicking9panic_fmt", None);
    }
}
