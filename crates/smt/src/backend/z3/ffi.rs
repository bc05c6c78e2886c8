//! Bindings to the Z3 C API, written against the headers of 4.8.12 (Debian 12).
//!
//! Only what bit vectors, arrays, quantifiers and floating point need is declared. Anything safe
//! is built one level up.
#![allow(unsafe_code, dead_code)]

use std::ffi::{c_char, c_int, c_uint};
use std::marker::{PhantomData, PhantomPinned};

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident -> $data:ident;)*) => {$(
        #[repr(C)]
        pub struct $data {
            _data: [u8; 0],
            // Neither Send nor Sync nor Unpin: contexts are not thread-safe.
            _marker: PhantomData<(*mut u8, PhantomPinned)>,
        }
        $(#[$doc])*
        pub type $name = *mut $data;
    )*};
}

handles! {
    Config -> ConfigData;
    Context -> ContextData;
    /// Terms; also what C calls `Z3_app` and `Z3_pattern`, which are the same pointers.
    Ast -> AstData;
    /// Castable to `Ast`, as `Z3_sort_to_ast` does.
    Sort -> SortData;
    /// Needs no reference count: symbols live as long as their context.
    Symbol -> SymbolData;
    Params -> ParamsData;
    Solver -> SolverData;
    Tactic -> TacticData;
    Model -> ModelData;
    AstVector -> AstVectorData;
}

/// Integer constants rather than a Rust enum: the values come from C, and an enum would make an
/// unexpected one undefined behaviour.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lbool(pub c_int);

impl Lbool {
    pub const FALSE: Lbool = Lbool(-1);
    pub const UNDEF: Lbool = Lbool(0);
    pub const TRUE: Lbool = Lbool(1);
}

#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ErrorCode(pub c_uint);

impl ErrorCode {
    pub const OK: ErrorCode = ErrorCode(0);
    pub const MEMOUT_FAIL: ErrorCode = ErrorCode(7);
    pub const EXCEPTION: ErrorCode = ErrorCode(12);
}

/// Must not unwind; may return, the failed call then yields null or 0.
pub type ErrorHandler = unsafe extern "C" fn(context: Context, code: ErrorCode);

// SAFETY, for every function of the blocks below:
// - Handles belong to the context they were made with and must not be used with another one.
// - A context and all its handles stay on one thread at a time. The one exception is
//   `Z3_interrupt`, which any thread may call while the context is alive.
// - With `Z3_mk_context_rc` nothing returned holds a count: `Ast` and `Sort` stay valid only until
//   the next call that makes a term, unless `Z3_inc_ref` is called first (a sort is counted through
//   its cast to `Ast`). Parameters, solvers, models, tactics and vectors have their own pairs and
//   are to be counted right after creation. `Z3_dec_ref` at zero frees.
// - All counts go back before `Z3_del_context`. A configuration may go once the context exists.
// - Returned strings live in a buffer of the context: valid until the next call that returns one.
// - The default error handler ends the process: install one, or `None` to only have
//   `Z3_get_error_code` set, right after making the context.
unsafe extern "C" {
    // Library, configuration, context
    pub fn Z3_get_full_version() -> *const c_char;
    pub fn Z3_global_param_set(param_id: *const c_char, param_value: *const c_char);
    pub fn Z3_mk_config() -> Config;
    pub fn Z3_del_config(c: Config);
    pub fn Z3_set_param_value(c: Config, param_id: *const c_char, param_value: *const c_char);
    pub fn Z3_mk_context_rc(c: Config) -> Context;
    pub fn Z3_del_context(c: Context);
    /// From any thread; the running check then answers undefined.
    pub fn Z3_interrupt(c: Context);
    pub fn Z3_set_error_handler(c: Context, h: Option<ErrorHandler>);
    pub fn Z3_get_error_code(c: Context) -> ErrorCode;
    pub fn Z3_get_error_msg(c: Context, err: ErrorCode) -> *const c_char;
    pub fn Z3_inc_ref(c: Context, a: Ast);
    pub fn Z3_dec_ref(c: Context, a: Ast);

    // Parameters ("timeout" in ms, "rlimit", "random_seed", "model", "unsat_core")
    pub fn Z3_mk_params(c: Context) -> Params;
    pub fn Z3_params_inc_ref(c: Context, p: Params);
    pub fn Z3_params_dec_ref(c: Context, p: Params);
    pub fn Z3_params_set_bool(c: Context, p: Params, k: Symbol, v: bool);
    pub fn Z3_params_set_uint(c: Context, p: Params, k: Symbol, v: c_uint);
    pub fn Z3_params_set_symbol(c: Context, p: Params, k: Symbol, v: Symbol);

    // Symbols and sorts
    pub fn Z3_mk_int_symbol(c: Context, i: c_int) -> Symbol;
    pub fn Z3_mk_string_symbol(c: Context, s: *const c_char) -> Symbol;
    pub fn Z3_mk_bool_sort(c: Context) -> Sort;
    pub fn Z3_mk_bv_sort(c: Context, sz: c_uint) -> Sort;
    pub fn Z3_mk_array_sort(c: Context, domain: Sort, range: Sort) -> Sort;
    pub fn Z3_mk_fpa_sort(c: Context, ebits: c_uint, sbits: c_uint) -> Sort;
    pub fn Z3_mk_fpa_rounding_mode_sort(c: Context) -> Sort;
    pub fn Z3_get_sort(c: Context, a: Ast) -> Sort;
    pub fn Z3_get_bv_sort_size(c: Context, t: Sort) -> c_uint;

    // Constants and values
    pub fn Z3_mk_const(c: Context, s: Symbol, ty: Sort) -> Ast;
    pub fn Z3_mk_fresh_const(c: Context, prefix: *const c_char, ty: Sort) -> Ast;
    pub fn Z3_mk_true(c: Context) -> Ast;
    pub fn Z3_mk_false(c: Context) -> Ast;
    /// Taken modulo the width for a bit-vector sort.
    pub fn Z3_mk_unsigned_int64(c: Context, v: u64, ty: Sort) -> Ast;
    pub fn Z3_mk_numeral(c: Context, numeral: *const c_char, ty: Sort) -> Ast;
    /// Least significant bit first.
    pub fn Z3_mk_bv_numeral(c: Context, sz: c_uint, bits: *const bool) -> Ast;

    // Boolean
    pub fn Z3_mk_eq(c: Context, l: Ast, r: Ast) -> Ast;
    pub fn Z3_mk_distinct(c: Context, num_args: c_uint, args: *const Ast) -> Ast;
    pub fn Z3_mk_not(c: Context, a: Ast) -> Ast;
    pub fn Z3_mk_ite(c: Context, t1: Ast, t2: Ast, t3: Ast) -> Ast;
    pub fn Z3_mk_iff(c: Context, t1: Ast, t2: Ast) -> Ast;
    pub fn Z3_mk_implies(c: Context, t1: Ast, t2: Ast) -> Ast;
    pub fn Z3_mk_xor(c: Context, t1: Ast, t2: Ast) -> Ast;
    pub fn Z3_mk_and(c: Context, num_args: c_uint, args: *const Ast) -> Ast;
    pub fn Z3_mk_or(c: Context, num_args: c_uint, args: *const Ast) -> Ast;

    // Bit vectors
    pub fn Z3_mk_bvnot(c: Context, t1: Ast) -> Ast;
    pub fn Z3_mk_bvneg(c: Context, t1: Ast) -> Ast;
    pub fn Z3_mk_bvand(c: Context, t1: Ast, t2: Ast) -> Ast;
    pub fn Z3_mk_bvor(c: Context, t1: Ast, t2: Ast) -> Ast;
    pub fn Z3_mk_bvxor(c: Context, t1: Ast, t2: Ast) -> Ast;
    pub fn Z3_mk_bvadd(c: Context, t1: Ast, t2: Ast) -> Ast;
    pub fn Z3_mk_bvsub(c: Context, t1: Ast, t2: Ast) -> Ast;
    pub fn Z3_mk_bvmul(c: Context, t1: Ast, t2: Ast) -> Ast;
    pub fn Z3_mk_bvudiv(c: Context, t1: Ast, t2: Ast) -> Ast;
    pub fn Z3_mk_bvsdiv(c: Context, t1: Ast, t2: Ast) -> Ast;
    pub fn Z3_mk_bvurem(c: Context, t1: Ast, t2: Ast) -> Ast;
    pub fn Z3_mk_bvsrem(c: Context, t1: Ast, t2: Ast) -> Ast;
    pub fn Z3_mk_bvsmod(c: Context, t1: Ast, t2: Ast) -> Ast;
    pub fn Z3_mk_bvshl(c: Context, t1: Ast, t2: Ast) -> Ast;
    pub fn Z3_mk_bvlshr(c: Context, t1: Ast, t2: Ast) -> Ast;
    pub fn Z3_mk_bvashr(c: Context, t1: Ast, t2: Ast) -> Ast;
    pub fn Z3_mk_bvult(c: Context, t1: Ast, t2: Ast) -> Ast;
    pub fn Z3_mk_bvslt(c: Context, t1: Ast, t2: Ast) -> Ast;
    pub fn Z3_mk_bvule(c: Context, t1: Ast, t2: Ast) -> Ast;
    pub fn Z3_mk_bvsle(c: Context, t1: Ast, t2: Ast) -> Ast;
    pub fn Z3_mk_bvuge(c: Context, t1: Ast, t2: Ast) -> Ast;
    pub fn Z3_mk_bvsge(c: Context, t1: Ast, t2: Ast) -> Ast;
    pub fn Z3_mk_bvugt(c: Context, t1: Ast, t2: Ast) -> Ast;
    pub fn Z3_mk_bvsgt(c: Context, t1: Ast, t2: Ast) -> Ast;
    pub fn Z3_mk_concat(c: Context, t1: Ast, t2: Ast) -> Ast;
    pub fn Z3_mk_extract(c: Context, high: c_uint, low: c_uint, t1: Ast) -> Ast;
    pub fn Z3_mk_sign_ext(c: Context, i: c_uint, t1: Ast) -> Ast;
    pub fn Z3_mk_zero_ext(c: Context, i: c_uint, t1: Ast) -> Ast;
    pub fn Z3_mk_bvredand(c: Context, t1: Ast) -> Ast;
    pub fn Z3_mk_bvredor(c: Context, t1: Ast) -> Ast;
    pub fn Z3_mk_bvadd_no_overflow(c: Context, t1: Ast, t2: Ast, is_signed: bool) -> Ast;
    pub fn Z3_mk_bvadd_no_underflow(c: Context, t1: Ast, t2: Ast) -> Ast;
    pub fn Z3_mk_bvsub_no_overflow(c: Context, t1: Ast, t2: Ast) -> Ast;
    pub fn Z3_mk_bvsub_no_underflow(c: Context, t1: Ast, t2: Ast, is_signed: bool) -> Ast;
    pub fn Z3_mk_bvmul_no_overflow(c: Context, t1: Ast, t2: Ast, is_signed: bool) -> Ast;
    pub fn Z3_mk_bvmul_no_underflow(c: Context, t1: Ast, t2: Ast) -> Ast;
    pub fn Z3_mk_ext_rotate_left(c: Context, t1: Ast, t2: Ast) -> Ast;
    pub fn Z3_mk_ext_rotate_right(c: Context, t1: Ast, t2: Ast) -> Ast;

    // Arrays
    pub fn Z3_mk_select(c: Context, a: Ast, i: Ast) -> Ast;
    pub fn Z3_mk_store(c: Context, a: Ast, i: Ast, v: Ast) -> Ast;
    pub fn Z3_mk_const_array(c: Context, domain: Sort, v: Ast) -> Ast;

    // Quantifiers over constants; patterns may be null with a count of 0
    /// `bound` are plain constants, abstracted in `body`.
    pub fn Z3_mk_forall_const(
        c: Context,
        weight: c_uint,
        num_bound: c_uint,
        bound: *const Ast,
        num_patterns: c_uint,
        patterns: *const Ast,
        body: Ast,
    ) -> Ast;
    pub fn Z3_mk_exists_const(
        c: Context,
        weight: c_uint,
        num_bound: c_uint,
        bound: *const Ast,
        num_patterns: c_uint,
        patterns: *const Ast,
        body: Ast,
    ) -> Ast;
}

// SAFETY: as above.
unsafe extern "C" {
    // Floating point
    pub fn Z3_mk_fpa_rne(c: Context) -> Ast;
    pub fn Z3_mk_fpa_rna(c: Context) -> Ast;
    pub fn Z3_mk_fpa_rtp(c: Context) -> Ast;
    pub fn Z3_mk_fpa_rtn(c: Context) -> Ast;
    pub fn Z3_mk_fpa_rtz(c: Context) -> Ast;
    pub fn Z3_mk_fpa_nan(c: Context, s: Sort) -> Ast;
    pub fn Z3_mk_fpa_inf(c: Context, s: Sort, negative: bool) -> Ast;
    pub fn Z3_mk_fpa_zero(c: Context, s: Sort, negative: bool) -> Ast;
    pub fn Z3_mk_fpa_fp(c: Context, sgn: Ast, exp: Ast, sig: Ast) -> Ast;
    pub fn Z3_mk_fpa_abs(c: Context, t: Ast) -> Ast;
    pub fn Z3_mk_fpa_neg(c: Context, t: Ast) -> Ast;
    pub fn Z3_mk_fpa_add(c: Context, rm: Ast, t1: Ast, t2: Ast) -> Ast;
    pub fn Z3_mk_fpa_sub(c: Context, rm: Ast, t1: Ast, t2: Ast) -> Ast;
    pub fn Z3_mk_fpa_mul(c: Context, rm: Ast, t1: Ast, t2: Ast) -> Ast;
    pub fn Z3_mk_fpa_div(c: Context, rm: Ast, t1: Ast, t2: Ast) -> Ast;
    pub fn Z3_mk_fpa_fma(c: Context, rm: Ast, t1: Ast, t2: Ast, t3: Ast) -> Ast;
    pub fn Z3_mk_fpa_sqrt(c: Context, rm: Ast, t: Ast) -> Ast;
    pub fn Z3_mk_fpa_rem(c: Context, t1: Ast, t2: Ast) -> Ast;
    pub fn Z3_mk_fpa_round_to_integral(c: Context, rm: Ast, t: Ast) -> Ast;
    pub fn Z3_mk_fpa_min(c: Context, t1: Ast, t2: Ast) -> Ast;
    pub fn Z3_mk_fpa_max(c: Context, t1: Ast, t2: Ast) -> Ast;
    pub fn Z3_mk_fpa_leq(c: Context, t1: Ast, t2: Ast) -> Ast;
    pub fn Z3_mk_fpa_lt(c: Context, t1: Ast, t2: Ast) -> Ast;
    pub fn Z3_mk_fpa_geq(c: Context, t1: Ast, t2: Ast) -> Ast;
    pub fn Z3_mk_fpa_gt(c: Context, t1: Ast, t2: Ast) -> Ast;
    pub fn Z3_mk_fpa_eq(c: Context, t1: Ast, t2: Ast) -> Ast;
    pub fn Z3_mk_fpa_is_normal(c: Context, t: Ast) -> Ast;
    pub fn Z3_mk_fpa_is_subnormal(c: Context, t: Ast) -> Ast;
    pub fn Z3_mk_fpa_is_zero(c: Context, t: Ast) -> Ast;
    pub fn Z3_mk_fpa_is_infinite(c: Context, t: Ast) -> Ast;
    pub fn Z3_mk_fpa_is_nan(c: Context, t: Ast) -> Ast;
    pub fn Z3_mk_fpa_is_negative(c: Context, t: Ast) -> Ast;
    pub fn Z3_mk_fpa_is_positive(c: Context, t: Ast) -> Ast;
    pub fn Z3_mk_fpa_to_fp_bv(c: Context, bv: Ast, s: Sort) -> Ast;
    pub fn Z3_mk_fpa_to_fp_float(c: Context, rm: Ast, t: Ast, s: Sort) -> Ast;
    pub fn Z3_mk_fpa_to_fp_signed(c: Context, rm: Ast, t: Ast, s: Sort) -> Ast;
    pub fn Z3_mk_fpa_to_fp_unsigned(c: Context, rm: Ast, t: Ast, s: Sort) -> Ast;
    pub fn Z3_mk_fpa_to_ubv(c: Context, rm: Ast, t: Ast, sz: c_uint) -> Ast;
    pub fn Z3_mk_fpa_to_sbv(c: Context, rm: Ast, t: Ast, sz: c_uint) -> Ast;
    pub fn Z3_mk_fpa_to_ieee_bv(c: Context, t: Ast) -> Ast;

    // Solver
    pub fn Z3_mk_solver(c: Context) -> Solver;
    /// The incremental core at once, without trying tactics first.
    pub fn Z3_mk_simple_solver(c: Context) -> Solver;
    pub fn Z3_mk_solver_for_logic(c: Context, logic: Symbol) -> Solver;
    pub fn Z3_mk_tactic(c: Context, name: *const c_char) -> Tactic;
    pub fn Z3_tactic_inc_ref(c: Context, t: Tactic);
    pub fn Z3_tactic_dec_ref(c: Context, g: Tactic);
    pub fn Z3_mk_solver_from_tactic(c: Context, t: Tactic) -> Solver;
    pub fn Z3_solver_inc_ref(c: Context, s: Solver);
    pub fn Z3_solver_dec_ref(c: Context, s: Solver);
    pub fn Z3_solver_set_params(c: Context, s: Solver, p: Params);
    pub fn Z3_solver_push(c: Context, s: Solver);
    pub fn Z3_solver_pop(c: Context, s: Solver, n: c_uint);
    pub fn Z3_solver_reset(c: Context, s: Solver);
    pub fn Z3_solver_assert(c: Context, s: Solver, a: Ast);
    pub fn Z3_solver_check(c: Context, s: Solver) -> Lbool;
    /// Documented for Boolean constants and their negations only.
    pub fn Z3_solver_check_assumptions(
        c: Context,
        s: Solver,
        num_assumptions: c_uint,
        assumptions: *const Ast,
    ) -> Lbool;
    pub fn Z3_solver_get_model(c: Context, s: Solver) -> Model;
    pub fn Z3_solver_get_unsat_core(c: Context, s: Solver) -> AstVector;
    pub fn Z3_solver_get_reason_unknown(c: Context, s: Solver) -> *const c_char;
    pub fn Z3_solver_to_string(c: Context, s: Solver) -> *const c_char;

    // Vectors of terms
    pub fn Z3_ast_vector_inc_ref(c: Context, v: AstVector);
    pub fn Z3_ast_vector_dec_ref(c: Context, v: AstVector);
    pub fn Z3_ast_vector_size(c: Context, v: AstVector) -> c_uint;
    pub fn Z3_ast_vector_get(c: Context, v: AstVector, i: c_uint) -> Ast;

    // Models and reading values
    pub fn Z3_model_inc_ref(c: Context, m: Model);
    pub fn Z3_model_dec_ref(c: Context, m: Model);
    /// With `model_completion` every constant gets a value. False on failure.
    pub fn Z3_model_eval(c: Context, m: Model, t: Ast, model_completion: bool, v: *mut Ast) -> bool;
    pub fn Z3_get_bool_value(c: Context, a: Ast) -> Lbool;
    pub fn Z3_is_numeral_ast(c: Context, a: Ast) -> bool;
    /// False if the value needs more than 64 bits.
    pub fn Z3_get_numeral_uint64(c: Context, v: Ast, u: *mut u64) -> bool;
    pub fn Z3_get_numeral_string(c: Context, a: Ast) -> *const c_char;
    pub fn Z3_get_numeral_binary_string(c: Context, a: Ast) -> *const c_char;
    pub fn Z3_simplify(c: Context, a: Ast) -> Ast;
    pub fn Z3_ast_to_string(c: Context, a: Ast) -> *const c_char;
}
