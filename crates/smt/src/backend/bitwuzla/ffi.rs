//! Bindings to Bitwuzla's C API, written against the headers of release 0.9.1.
//!
//! Numbers of kinds and options differ between releases; `solvers/build-bitwuzla.sh` pins the
//! release these belong to, and `VERSION` below lets the safe layer check what was linked.
//!
//! Only the functions and kinds that bit vectors, arrays, quantifiers and floating point need are
//! declared. Anything safe is built one level up; this module only states what the library has.
#![allow(unsafe_code, dead_code)]

use std::ffi::{CStr, c_char, c_uint, c_void};
use std::marker::{PhantomData, PhantomPinned};

/// What `bitwuzla_version` answers for the release these bindings were written against.
pub const VERSION: &CStr = c"0.9.1";

macro_rules! opaque {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[repr(C)]
        pub struct $name {
            _data: [u8; 0],
            // Neither Send nor Sync nor Unpin: the library ties these objects to one thread.
            _marker: PhantomData<(*mut u8, PhantomPinned)>,
        }
    )*};
}

opaque! {
    /// Owns all sorts and terms. One per thread.
    TermManager;
    /// One incremental solver instance over a term manager.
    Solver;
    /// Copied by `bitwuzla_new`; may be deleted right after.
    Options;
    TermData;
    SortData;
    /// The C library's `FILE`.
    File;
}

pub type Tm = *mut TermManager;
/// Counted reference to a term; null where a call failed.
pub type Term = *mut TermData;
/// Counted reference to a sort; null where a call failed.
pub type Sort = *mut SortData;
/// Polled now and then during a check; anything but 0 ends it with `Answer::UNKNOWN`.
pub type TerminateFn = unsafe extern "C" fn(state: *mut c_void) -> i32;
/// Told about misuse of the API, with a message that is valid only during the call.
pub type AbortFn = unsafe extern "C" fn(message: *const c_char);

/// Integer constants rather than a Rust enum: the values come from C, and an enum would make an
/// unexpected one undefined behaviour.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Answer(pub c_uint);

impl Answer {
    pub const UNKNOWN: Answer = Answer(0);
    pub const SAT: Answer = Answer(10);
    pub const UNSAT: Answer = Answer(20);
}

#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RoundingMode(pub c_uint);

impl RoundingMode {
    pub const RNE: RoundingMode = RoundingMode(0);
    pub const RNA: RoundingMode = RoundingMode(1);
    pub const RTN: RoundingMode = RoundingMode(2);
    pub const RTP: RoundingMode = RoundingMode(3);
    pub const RTZ: RoundingMode = RoundingMode(4);
}

#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Opt(pub c_uint);

/// Incremental use needs no option; it is always on.
impl Opt {
    pub const LOGLEVEL: Opt = Opt(0);
    /// 0 or 1, default 0. Without it `bitwuzla_get_value` is an error.
    pub const PRODUCE_MODELS: Opt = Opt(1);
    /// 0 or 1, default 0; bit vectors without arrays only.
    pub const PRODUCE_INTERPOLANTS: Opt = Opt(2);
    /// 0 or 1, default 0.
    pub const PRODUCE_UNSAT_ASSUMPTIONS: Opt = Opt(3);
    /// 0 or 1, default 0.
    pub const PRODUCE_UNSAT_CORES: Opt = Opt(4);
    pub const SEED: Opt = Opt(5);
    pub const VERBOSITY: Opt = Opt(6);
    /// Milliseconds of wall-clock for each check, 0 for none. Fixed once the solver exists, as all
    /// options are; for a limit that varies use the termination callback.
    pub const TIME_LIMIT_PER: Opt = Opt(7);
    /// MiB, 0 for none; measured over the whole process, not this solver.
    pub const MEMORY_LIMIT: Opt = Opt(8);
    pub const NTHREADS: Opt = Opt(9);
    /// Mode: "bitblast" (default), "preprop", "prop".
    pub const BV_SOLVER: Opt = Opt(10);
    /// 0, 1 or 2 (default).
    pub const REWRITE_LEVEL: Opt = Opt(11);
    /// Mode: "cadical" is the only one built in.
    pub const SAT_SOLVER: Opt = Opt(12);
    pub const ABSTRACTION: Opt = Opt(24);
    pub const ABSTRACTION_BV_SIZE: Opt = Opt(25);
    /// 0 or 1 (default).
    pub const PREPROCESS: Opt = Opt(44);
    pub const PP_ELIM_BV_UDIV: Opt = Opt(46);
    pub const PP_NORMALIZE: Opt = Opt(49);
    pub const PP_SKELETON_PREPROC: Opt = Opt(50);
    pub const PP_VARIABLE_SUBST: Opt = Opt(51);
    pub const DBG_CHECK_MODEL: Opt = Opt(58);
    pub const DBG_CHECK_UNSAT_CORE: Opt = Opt(59);
}

#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Kind(pub c_uint);

/// Quantifiers and lambdas take their bound variables first (`bitwuzla_mk_var`, each used in one
/// binder only) and the body last. Extract takes the indices (high, low), extensions the number of
/// bits added.
impl Kind {
    pub const CONSTANT: Kind = Kind(0);
    pub const CONST_ARRAY: Kind = Kind(1);
    pub const VALUE: Kind = Kind(2);
    pub const VARIABLE: Kind = Kind(3);
    pub const AND: Kind = Kind(4);
    pub const DISTINCT: Kind = Kind(5);
    pub const EQUAL: Kind = Kind(6);
    pub const IFF: Kind = Kind(7);
    pub const IMPLIES: Kind = Kind(8);
    pub const NOT: Kind = Kind(9);
    pub const OR: Kind = Kind(10);
    pub const XOR: Kind = Kind(11);
    pub const ITE: Kind = Kind(12);
    pub const EXISTS: Kind = Kind(13);
    pub const FORALL: Kind = Kind(14);
    pub const APPLY: Kind = Kind(15);
    pub const LAMBDA: Kind = Kind(16);
    pub const ARRAY_SELECT: Kind = Kind(17);
    pub const ARRAY_STORE: Kind = Kind(18);
    pub const BV_ADD: Kind = Kind(19);
    pub const BV_AND: Kind = Kind(20);
    pub const BV_ASHR: Kind = Kind(21);
    pub const BV_COMP: Kind = Kind(22);
    pub const BV_CONCAT: Kind = Kind(23);
    pub const BV_DEC: Kind = Kind(24);
    pub const BV_INC: Kind = Kind(25);
    pub const BV_MUL: Kind = Kind(26);
    pub const BV_NAND: Kind = Kind(27);
    pub const BV_NEG: Kind = Kind(28);
    pub const BV_NEG_OVERFLOW: Kind = Kind(29);
    pub const BV_NOR: Kind = Kind(30);
    pub const BV_NOT: Kind = Kind(31);
    pub const BV_OR: Kind = Kind(32);
    pub const BV_REDAND: Kind = Kind(33);
    pub const BV_REDOR: Kind = Kind(34);
    pub const BV_REDXOR: Kind = Kind(35);
    pub const BV_ROL: Kind = Kind(36);
    pub const BV_ROR: Kind = Kind(37);
    pub const BV_SADD_OVERFLOW: Kind = Kind(38);
    pub const BV_SDIV_OVERFLOW: Kind = Kind(39);
    pub const BV_SDIV: Kind = Kind(40);
    pub const BV_SGE: Kind = Kind(41);
    pub const BV_SGT: Kind = Kind(42);
    pub const BV_SHL: Kind = Kind(43);
    pub const BV_SHR: Kind = Kind(44);
    pub const BV_SLE: Kind = Kind(45);
    pub const BV_SLT: Kind = Kind(46);
    pub const BV_SMOD: Kind = Kind(47);
    pub const BV_SMUL_OVERFLOW: Kind = Kind(48);
    pub const BV_SREM: Kind = Kind(49);
    pub const BV_SSUB_OVERFLOW: Kind = Kind(50);
    pub const BV_SUB: Kind = Kind(51);
    pub const BV_UADD_OVERFLOW: Kind = Kind(52);
    pub const BV_UDIV: Kind = Kind(53);
    pub const BV_UGE: Kind = Kind(54);
    pub const BV_UGT: Kind = Kind(55);
    pub const BV_ULE: Kind = Kind(56);
    pub const BV_ULT: Kind = Kind(57);
    pub const BV_UMUL_OVERFLOW: Kind = Kind(58);
    pub const BV_UREM: Kind = Kind(59);
    pub const BV_USUB_OVERFLOW: Kind = Kind(60);
    pub const BV_XNOR: Kind = Kind(61);
    pub const BV_XOR: Kind = Kind(62);
    pub const BV_EXTRACT: Kind = Kind(63);
    pub const BV_REPEAT: Kind = Kind(64);
    pub const BV_ROLI: Kind = Kind(65);
    pub const BV_RORI: Kind = Kind(66);
    pub const BV_SIGN_EXTEND: Kind = Kind(67);
    pub const BV_ZERO_EXTEND: Kind = Kind(68);
    pub const FP_ABS: Kind = Kind(69);
    pub const FP_ADD: Kind = Kind(70);
    pub const FP_DIV: Kind = Kind(71);
    pub const FP_EQUAL: Kind = Kind(72);
    pub const FP_FMA: Kind = Kind(73);
    pub const FP_FP: Kind = Kind(74);
    pub const FP_GEQ: Kind = Kind(75);
    pub const FP_GT: Kind = Kind(76);
    pub const FP_IS_INF: Kind = Kind(77);
    pub const FP_IS_NAN: Kind = Kind(78);
    pub const FP_IS_NEG: Kind = Kind(79);
    pub const FP_IS_NORMAL: Kind = Kind(80);
    pub const FP_IS_POS: Kind = Kind(81);
    pub const FP_IS_SUBNORMAL: Kind = Kind(82);
    pub const FP_IS_ZERO: Kind = Kind(83);
    pub const FP_LEQ: Kind = Kind(84);
    pub const FP_LT: Kind = Kind(85);
    pub const FP_MAX: Kind = Kind(86);
    pub const FP_MIN: Kind = Kind(87);
    pub const FP_MUL: Kind = Kind(88);
    pub const FP_NEG: Kind = Kind(89);
    pub const FP_REM: Kind = Kind(90);
    pub const FP_RTI: Kind = Kind(91);
    pub const FP_SQRT: Kind = Kind(92);
    pub const FP_SUB: Kind = Kind(93);
    pub const FP_TO_FP_FROM_BV: Kind = Kind(94);
    pub const FP_TO_FP_FROM_FP: Kind = Kind(95);
    pub const FP_TO_FP_FROM_SBV: Kind = Kind(96);
    pub const FP_TO_FP_FROM_UBV: Kind = Kind(97);
    pub const FP_TO_SBV: Kind = Kind(98);
    pub const FP_TO_UBV: Kind = Kind(99);
}

// SAFETY, for every function of the block below:
// - Handles come from this library and belong to the term manager they were made with; handles of
//   two managers must not meet in one call.
// - A term manager, its terms, sorts and solvers stay on one thread: reference counts are plain
//   integers. Several managers on several threads are independent.
// - Every returned `Term` or `Sort` holds one count, also when the same handle was returned before,
//   and also those in the arrays of unsat assumptions and cores. `*_release` gives a count back
//   (the handle is dead at zero), `*_copy` adds one, `bitwuzla_term_manager_release` drops all at
//   once. A solver keeps what was asserted alive by itself.
// - Solvers are deleted before their term manager; options may go before either.
// - Returned strings and arrays live in thread-local buffers: valid until the same function is
//   called again on the same thread.
// - On misuse the abort callback of the calling thread runs and, when it returns, the call yields
//   null, 0, false or unknown; out-parameters stay unset, so they must be initialised. Without a
//   callback the process exits. Neither callback may unwind.
// - The state given to `bitwuzla_set_termination_callback` must outlive the solver or the next
//   call that replaces it. The callback runs on the thread of the check.
unsafe extern "C" {
    // Library
    pub fn bitwuzla_version() -> *const c_char;
    /// Thread-local: to be set on every thread that uses the library.
    pub fn bitwuzla_set_abort_callback(fun: Option<AbortFn>);

    // Options
    pub fn bitwuzla_options_new() -> *mut Options;
    pub fn bitwuzla_options_delete(options: *mut Options);
    pub fn bitwuzla_set_option(options: *mut Options, option: Opt, val: u64);
    pub fn bitwuzla_set_option_mode(options: *mut Options, option: Opt, val: *const c_char);
    pub fn bitwuzla_get_option(options: *mut Options, option: Opt) -> u64;

    // Term manager and reference counts
    pub fn bitwuzla_term_manager_new() -> Tm;
    pub fn bitwuzla_term_manager_delete(tm: Tm);
    pub fn bitwuzla_term_manager_release(tm: Tm);
    pub fn bitwuzla_term_copy(term: Term) -> Term;
    pub fn bitwuzla_term_release(term: Term);
    pub fn bitwuzla_sort_copy(sort: Sort) -> Sort;
    pub fn bitwuzla_sort_release(sort: Sort);

    // Sorts
    pub fn bitwuzla_mk_bool_sort(tm: Tm) -> Sort;
    pub fn bitwuzla_mk_bv_sort(tm: Tm, size: u64) -> Sort;
    pub fn bitwuzla_mk_array_sort(tm: Tm, index: Sort, element: Sort) -> Sort;
    pub fn bitwuzla_mk_fp_sort(tm: Tm, exp_size: u64, sig_size: u64) -> Sort;
    pub fn bitwuzla_mk_rm_sort(tm: Tm) -> Sort;
    pub fn bitwuzla_mk_fun_sort(tm: Tm, arity: u64, domain: *const Sort, codomain: Sort) -> Sort;

    // Values
    pub fn bitwuzla_mk_true(tm: Tm) -> Term;
    pub fn bitwuzla_mk_false(tm: Tm) -> Term;
    pub fn bitwuzla_mk_bv_zero(tm: Tm, sort: Sort) -> Term;
    pub fn bitwuzla_mk_bv_one(tm: Tm, sort: Sort) -> Term;
    pub fn bitwuzla_mk_bv_ones(tm: Tm, sort: Sort) -> Term;
    /// An error if the value does not fit the sort.
    pub fn bitwuzla_mk_bv_value_uint64(tm: Tm, sort: Sort, value: u64) -> Term;
    pub fn bitwuzla_mk_bv_value_int64(tm: Tm, sort: Sort, value: i64) -> Term;
    /// Base 2, 10 or 16; digits without prefix.
    pub fn bitwuzla_mk_bv_value(tm: Tm, sort: Sort, value: *const c_char, base: u8) -> Term;
    /// Sign, exponent and significand are bit-vector values; the sort follows from them.
    pub fn bitwuzla_mk_fp_value(tm: Tm, bv_sign: Term, bv_exponent: Term, bv_significand: Term) -> Term;
    pub fn bitwuzla_mk_fp_nan(tm: Tm, sort: Sort) -> Term;
    pub fn bitwuzla_mk_fp_pos_inf(tm: Tm, sort: Sort) -> Term;
    pub fn bitwuzla_mk_fp_neg_inf(tm: Tm, sort: Sort) -> Term;
    pub fn bitwuzla_mk_fp_pos_zero(tm: Tm, sort: Sort) -> Term;
    pub fn bitwuzla_mk_fp_neg_zero(tm: Tm, sort: Sort) -> Term;
    pub fn bitwuzla_mk_rm_value(tm: Tm, rm: RoundingMode) -> Term;

    // Terms
    /// The symbol may be null. Every call makes a new constant, even for an equal symbol.
    pub fn bitwuzla_mk_const(tm: Tm, sort: Sort, symbol: *const c_char) -> Term;
    /// Bound variable; the symbol may be null.
    pub fn bitwuzla_mk_var(tm: Tm, sort: Sort, symbol: *const c_char) -> Term;
    pub fn bitwuzla_mk_const_array(tm: Tm, sort: Sort, value: Term) -> Term;
    pub fn bitwuzla_mk_term1(tm: Tm, kind: Kind, arg: Term) -> Term;
    pub fn bitwuzla_mk_term2(tm: Tm, kind: Kind, arg0: Term, arg1: Term) -> Term;
    pub fn bitwuzla_mk_term3(tm: Tm, kind: Kind, arg0: Term, arg1: Term, arg2: Term) -> Term;
    pub fn bitwuzla_mk_term(tm: Tm, kind: Kind, argc: u32, args: *const Term) -> Term;
    pub fn bitwuzla_mk_term1_indexed1(tm: Tm, kind: Kind, arg: Term, idx: u64) -> Term;
    pub fn bitwuzla_mk_term1_indexed2(tm: Tm, kind: Kind, arg: Term, idx0: u64, idx1: u64) -> Term;
    pub fn bitwuzla_mk_term2_indexed1(tm: Tm, kind: Kind, arg0: Term, arg1: Term, idx: u64) -> Term;
    pub fn bitwuzla_mk_term2_indexed2(tm: Tm, kind: Kind, arg0: Term, arg1: Term, idx0: u64, idx1: u64) -> Term;
    pub fn bitwuzla_substitute_term(
        term: Term,
        map_size: usize,
        map_keys: *const Term,
        map_values: *const Term,
    ) -> Term;

    // Looking at terms
    pub fn bitwuzla_term_get_kind(term: Term) -> Kind;
    pub fn bitwuzla_term_get_sort(term: Term) -> Sort;
    pub fn bitwuzla_term_get_children(term: Term, size: *mut usize) -> *mut Term;
    pub fn bitwuzla_term_get_indices(term: Term, size: *mut usize) -> *mut u64;
    pub fn bitwuzla_term_get_symbol(term: Term) -> *const c_char;
    pub fn bitwuzla_term_bv_get_size(term: Term) -> u64;
    pub fn bitwuzla_term_is_value(term: Term) -> bool;
    pub fn bitwuzla_term_is_bool(term: Term) -> bool;
    pub fn bitwuzla_term_is_bv(term: Term) -> bool;
    pub fn bitwuzla_term_is_true(term: Term) -> bool;
    pub fn bitwuzla_term_is_false(term: Term) -> bool;
    pub fn bitwuzla_term_value_get_bool(term: Term) -> bool;
    pub fn bitwuzla_term_value_get_str(term: Term) -> *const c_char;
    /// Base 2, 10 or 16, without prefix; base 2 is padded to the width.
    pub fn bitwuzla_term_value_get_str_fmt(term: Term, base: u8) -> *const c_char;
    pub fn bitwuzla_term_value_get_fp_ieee(
        term: Term,
        sign: *mut *const c_char,
        exponent: *mut *const c_char,
        significand: *mut *const c_char,
        base: u8,
    );
    pub fn bitwuzla_term_to_string(term: Term) -> *const c_char;

    // Solver
    pub fn bitwuzla_new(tm: Tm, options: *const Options) -> *mut Solver;
    pub fn bitwuzla_delete(s: *mut Solver);
    /// Cannot be taken back, only replaced: `None` is an error.
    pub fn bitwuzla_set_termination_callback(s: *mut Solver, fun: Option<TerminateFn>, state: *mut c_void);
    pub fn bitwuzla_push(s: *mut Solver, nlevels: u64);
    pub fn bitwuzla_pop(s: *mut Solver, nlevels: u64);
    pub fn bitwuzla_assert(s: *mut Solver, term: Term);
    pub fn bitwuzla_check_sat(s: *mut Solver) -> Answer;
    /// Assumptions are any Boolean terms, not only literals; `args` must not be null. Works as a
    /// push, assertions and a check, whose pop waits for the next change to the solver. A term that
    /// is not Boolean is not rejected but makes the answer meaningless.
    pub fn bitwuzla_check_sat_assuming(s: *mut Solver, argc: u32, args: *const Term) -> Answer;
    pub fn bitwuzla_is_unsat_assumption(s: *mut Solver, term: Term) -> bool;
    /// Null if there are none.
    pub fn bitwuzla_get_unsat_assumptions(s: *mut Solver, size: *mut usize) -> *const Term;
    pub fn bitwuzla_get_unsat_core(s: *mut Solver, size: *mut usize) -> *const Term;
    /// After a satisfiable check and before the next change to the solver.
    pub fn bitwuzla_get_value(s: *mut Solver, term: Term) -> Term;
    pub fn bitwuzla_simplify(s: *mut Solver);
    pub fn bitwuzla_simplify_term(s: *mut Solver, term: Term) -> Term;
    pub fn bitwuzla_get_interpolant(s: *mut Solver, argc: u32, args: *const Term) -> Term;
    /// Format "smt2" or "btor2". After a check it prints what preprocessing left of the assertions.
    /// Base 2 or 10: base 16 drops leading zeros, which makes the text invalid.
    pub fn bitwuzla_print_formula(s: *mut Solver, format: *const c_char, file: *mut File, base: u8);
}

// SAFETY: the C library's memory streams, the only way to have `bitwuzla_print_formula` write to
// memory. `open_memstream` keeps the two pointers and fills them in at `fclose`; the buffer is
// then freed with `free`.
unsafe extern "C" {
    pub fn open_memstream(buffer: *mut *mut c_char, size: *mut usize) -> *mut File;
    pub fn fclose(file: *mut File) -> i32;
    pub fn free(buffer: *mut c_void);
}
