//! Prints the lowered form of a program: `cargo run -p pleach-frontend --example dump -- [--no-promote] [-I DIR]
//! [-D NAME] [--cc-arg=ARG] FILE…`. A development aid.

use pleach_frontend::{Options, load};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut options = Options::default();
    let mut quiet = false;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--no-promote" => options.promote = false,
            "--quiet" => quiet = true,
            "-m32" => options.m32 = true,
            "-I" => options.include_dirs.extend(args.next().map(Into::into)),
            "-D" => options.defines.extend(args.next()),
            _ => match arg.strip_prefix("--cc-arg=") {
                Some(flag) => options.cc_args.push(flag.to_owned()),
                None => options.inputs.push(arg.into()),
            },
        }
    }
    let start = std::time::Instant::now();
    let program = match load(&options) {
        Ok(program) => program,
        Err(why) => {
            eprintln!("error: {why}");
            return ExitCode::from(2);
        }
    };
    let _ = std::fs::remove_dir_all(&options.work_dir);
    if quiet {
        let insts: usize = program.functions.iter().map(|f| f.insts.len()).sum();
        let weight: u32 = program.functions.iter().flat_map(|f| &f.block_weight).sum();
        println!("{insts} instructions from {weight} of LLVM in {:.2?}", start.elapsed());
        let mut names: Vec<&String> = program.functions.iter().flat_map(|f| &f.names).collect();
        names.sort();
        names.dedup();
        names.into_iter().for_each(|n| println!("unsupported: {n}"));
    } else {
        print!("{}", pleach_ir::text::print(&program));
    }
    if let Err(problems) = pleach_ir::verify::verify(&program) {
        problems.iter().take(20).for_each(|p| eprintln!("verify: {p}"));
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
