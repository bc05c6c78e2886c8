//! How C becomes bitcode for the engine, whoever runs the compiler.

pub const CLANG: &str = "clang-19";
pub const CLANG_CXX: &str = "clang++-19";

/// What clang checks itself, because it folds constants or does not say in bitcode what it knows: by traps, and by
/// handlers.
const TRAPS: &str = "signed-integer-overflow,bool,enum,vla-bound,builtin,float-cast-overflow";
const HANDLERS: &str = "integer-divide-by-zero,shift-exponent";

/// Options by which clang inserts checks of undefined behaviour, besides the user's own. `shifts`: of the results of
/// signed left shifts too, which are the same as unsigned ones in bitcode.
pub fn checks(user: &[String], shifts: bool) -> Vec<String> {
    // Who chooses sanitizers gets what they give; behind an optimiser a check is not what it was.
    let optimises = |a: &String| a.starts_with("-O") && a != "-O0";
    if user.iter().any(|a| a.starts_with("-fsanitize") || optimises(a)) {
        return if shifts { vec!["-fsanitize=shift-base".into(), "-fsanitize-trap=shift-base".into()] } else { vec![] };
    }
    let wraps = user.iter().any(|a| ["-fwrapv", "-fno-strict-overflow", "-ftrapv"].contains(&a.as_str()));
    let traps = if wraps { TRAPS.trim_start_matches("signed-integer-overflow,") } else { TRAPS };
    let traps = if shifts { format!("{traps},shift-base") } else { traps.into() };
    vec![
        format!("-fsanitize={traps},{HANDLERS}"),
        format!("-fsanitize-trap={traps}"),
        format!("-fno-sanitize-recover={HANDLERS}"),
        // Handlers without arguments, whose names say that they are ours.
        "-fsanitize-minimal-runtime".into(),
    ]
}

/// Unoptimised, with debug information. A multiplication and an addition stay two operations, as on a machine without a
/// fused instruction; nothing is added behind the program's back.
pub const FOR_THE_ENGINE: [&str; 12] = [
    "-c",
    "-emit-llvm",
    "-g",
    "-O0",
    "-Xclang",
    "-disable-O0-optnone",
    // Marks the scopes of locals, and nothing else.
    "-Xclang",
    "-fsanitize-address-use-after-scope",
    "-ffp-contract=off",
    "-fno-stack-protector",
    "-fcf-protection=none",
    "-U_FORTIFY_SOURCE",
];
