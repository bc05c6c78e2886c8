//! C and bitcode to ir: clang, linking, lowering; all LLVM FFI lives here.
//!
//! [`load`] compiles the C inputs with clang, reads bitcode and textual IR, links everything into one module and lowers
//! it to a [`pleach_ir::Program`]. LLVM's reader may crash on damaged bitcode, so the engine does not call it but runs
//! the executable around [`serve`], through `pleach-load`.
//!
//! ```
//! use pleach_frontend::{FrontendError, Options, load};
//!
//! let options = Options { inputs: vec!["no-such-file.ll".into()], ..Options::default() };
//! let error: FrontendError = load(&options).expect_err("there is no such file");
//! assert!(error.to_string().contains("no-such-file.ll"));
//! ```

mod allocation;
mod archive;
mod cache;
mod clang;
mod error;
mod input;
mod library;
mod link;
mod llvm;
mod lower;
mod output;
mod rust;
mod serve;

pub use error::FrontendError;
pub use pleach_load::Options;
pub use serve::serve;

use pleach_ir::Program;
use rustc_hash::FxHashSet;

/// Compiles, links and lowers all inputs.
pub fn load(options: &Options) -> Result<Program, FrontendError> {
    load_watched(options, None, &|_| {})
}

/// What LLVM is about to be busy with.
enum Step {
    /// an input is compiled
    Compiled,
    /// the input of this index
    Reading(usize),
    Lowering,
}

fn load_watched(
    options: &Options,
    known: Option<&cache::Known>,
    watch: &(dyn Fn(Step) + Sync),
) -> Result<Program, FrontendError> {
    let inputs = input::read_all(options, known, &|| watch(Step::Compiled))?;
    let remarks: Vec<String> = inputs.iter().flat_map(|i| i.remarks.iter().cloned()).collect();
    let context = llvm::Context::new();
    let mut module = link::link(&context, inputs, |i| watch(Step::Reading(i)))?;
    watch(Step::Lowering);
    let bodies = |m: &llvm::Module<'_>| -> FxHashSet<String> {
        m.functions().filter(|f| !f.is_declaration()).map(|f| f.name()).collect()
    };
    let own = bodies(&module);
    if options.malloc_may_fail {
        module = allocation::with_failures(&context, module)?;
    }
    module = library::with_cxx(&context, module)?;
    let with_cxx = bodies(&module);
    let mut linked = false;
    if let Some(library) = &options.library {
        (module, linked) = library::complete(&context, module, library)?;
    }
    if let Some(path) = &options.assembly {
        std::fs::write(path, module.text()).map_err(|why| FrontendError::WorkDir { path: path.clone(), why })?;
    }
    module.use_debug_intrinsics();
    let mut program = lower::lower(&module, options)?;
    let of_rust: FxHashSet<String> = module.functions().filter(|f| rust::is_library(*f)).map(|f| f.name()).collect();
    let of_runtime = |name: &str| with_cxx.contains(name) && !own.contains(name) || of_rust.contains(name);
    program.from_runtime = library::bodies_named(&program, of_runtime);
    if linked {
        library::finish(&mut program, &with_cxx);
    }
    program.remarks.extend(remarks);
    Ok(program)
}
