//! How C becomes bitcode for the engine, whoever runs the compiler.

pub const CLANG: &str = "clang-19";
pub const CLANG_CXX: &str = "clang++-19";

/// Unoptimised, with debug information. A multiplication and an addition stay two operations, as on a machine without a fused instruction;
/// nothing is added behind the program's back.
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
