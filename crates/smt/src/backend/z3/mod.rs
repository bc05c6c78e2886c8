//! Z3 as an [`Engine`]: the safe layer over its C API.
//!
//! Pure bit-vector instances use Z3's incremental SAT solver; the first array, float or quantifier moves an instance to
//! the general one, which is many times slower on bit-vectors.
#![allow(unsafe_code)]

pub mod ffi;
mod interrupt;
mod terms;

use super::{Check, Engine, Fun, Limits, Sort, Verdict};
use crate::answer::UnknownReason;
use crate::error::SmtError;
use rustc_hash::FxHashMap;
use std::ffi::CStr;
use std::ptr;
use std::sync::atomic::Ordering;

pub struct Z3 {
    context: ffi::Context,
    solver: ffi::Solver,
    /// of the last satisfiable check
    model: ffi::Model,
    sorts: FxHashMap<Sort, ffi::Sort>,
    /// everything counted, to be given back
    held: Vec<ffi::Ast>,
    /// for an assumption t: a literal p, and p ⇒ t
    literals: FxHashMap<ffi::Ast, (ffi::Ast, ffi::Ast)>,
    /// what was asserted for good, to be repeated when the solver changes
    asserted: Vec<ffi::Ast>,
    /// something else than bit-vectors was made
    rich: bool,
    /// the limit on resources that is set
    resources: u32,
    limits: Limits,
}

/// Z3's resources for one step of Bitwuzla's: both take about 40 µs.
const RESOURCES_PER_STEP: u64 = 1_000;

impl Drop for Z3 {
    fn drop(&mut self) {
        // SAFETY: all of it was made with this context and is given back once, the context last.
        unsafe {
            for &ast in &self.held {
                ffi::Z3_dec_ref(self.context, ast);
            }
            if !self.model.is_null() {
                ffi::Z3_model_dec_ref(self.context, self.model);
            }
            if !self.solver.is_null() {
                ffi::Z3_solver_dec_ref(self.context, self.solver);
            }
            ffi::Z3_del_context(self.context);
        }
    }
}

impl Z3 {
    fn error(&self, what: &str) -> SmtError {
        // SAFETY: the context is alive; the message is copied at once.
        let text = unsafe {
            let code = ffi::Z3_get_error_code(self.context);
            let message = ffi::Z3_get_error_msg(self.context, code);
            if message.is_null() { String::new() } else { CStr::from_ptr(message).to_string_lossy().into_owned() }
        };
        SmtError::Backend(format!("z3: {what}: {text}"))
    }

    fn hold(&mut self, ast: ffi::Ast) -> Result<ffi::Ast, SmtError> {
        if ast.is_null() {
            return Err(self.error("term"));
        }
        // SAFETY: just made with this context, and counted before the next call that makes a term.
        unsafe { ffi::Z3_inc_ref(self.context, ast) };
        self.held.push(ast);
        Ok(ast)
    }

    fn sort(&mut self, sort: Sort) -> Result<ffi::Sort, SmtError> {
        if let Some(&s) = self.sorts.get(&sort) {
            return Ok(s);
        }
        let made = match sort {
            // SAFETY: the context is alive.
            Sort::Bool => unsafe { ffi::Z3_mk_bool_sort(self.context) },
            // SAFETY: as above.
            Sort::Bits(w) => unsafe { ffi::Z3_mk_bv_sort(self.context, w.into()) },
            Sort::Array { index, element } => {
                let index = self.sort(Sort::Bits(index))?;
                let element = self.sort(Sort::Bits(element))?;
                // SAFETY: both sorts are held.
                unsafe { ffi::Z3_mk_array_sort(self.context, index, element) }
            }
        };
        self.hold(made.cast())?;
        self.sorts.insert(sort, made);
        Ok(made)
    }

    /// Uses this solver, just made, from now on.
    fn install(&mut self, solver: ffi::Solver) -> Result<(), SmtError> {
        let c = self.context;
        if solver.is_null() {
            return Err(self.error("solver"));
        }
        // SAFETY: solver and parameters are counted right after they were made; the old solver is given back once.
        unsafe {
            ffi::Z3_solver_inc_ref(c, solver);
            if !self.solver.is_null() {
                ffi::Z3_solver_dec_ref(c, self.solver);
            }
            self.solver = solver;
            self.resources = 0;
            self.set_limits(0);
            for &term in &self.asserted {
                ffi::Z3_solver_assert(c, solver, term);
            }
        }
        Ok(())
    }

    /// Tells the solver how long it may search; `resources`: as it counts them, 0 for no limit.
    fn set_limits(&mut self, resources: u32) {
        let c = self.context;
        self.resources = resources;
        // SAFETY: the parameters are counted right after they were made and given back once; the solver is alive.
        unsafe {
            let params = ffi::Z3_mk_params(c);
            ffi::Z3_params_inc_ref(c, params);
            if let Some(limit) = self.limits.timeout {
                let ms = u32::try_from(limit.as_millis()).unwrap_or(u32::MAX).max(1);
                ffi::Z3_params_set_uint(c, params, ffi::Z3_mk_string_symbol(c, c"timeout".as_ptr()), ms);
            }
            if let Some(mib) = self.limits.memory_mib {
                let mib = u32::try_from(mib).unwrap_or(u32::MAX);
                ffi::Z3_params_set_uint(c, params, ffi::Z3_mk_string_symbol(c, c"max_memory".as_ptr()), mib);
            }
            ffi::Z3_params_set_uint(c, params, ffi::Z3_mk_string_symbol(c, c"rlimit".as_ptr()), resources);
            ffi::Z3_solver_set_params(c, self.solver, params);
            ffi::Z3_params_dec_ref(c, params);
        }
    }

    /// From now on there is more than bit-vectors.
    fn enrich(&mut self) -> Result<(), SmtError> {
        if self.rich {
            return Ok(());
        }
        self.rich = true;
        // SAFETY: the context is alive.
        let solver = unsafe { ffi::Z3_mk_simple_solver(self.context) };
        self.install(solver)
    }

    /// Z3 takes only literals as assumptions: p with p ⇒ t.
    fn literal(&mut self, term: ffi::Ast) -> Result<(ffi::Ast, ffi::Ast), SmtError> {
        if let Some(&known) = self.literals.get(&term) {
            return Ok(known);
        }
        let p = self.fresh(Sort::Bool)?;
        // SAFETY: both are held terms of this context.
        let implies = unsafe { ffi::Z3_mk_implies(self.context, p, term) };
        let implies = self.hold(implies)?;
        self.literals.insert(term, (p, implies));
        Ok((p, implies))
    }

    fn failed(&self, literals: &[ffi::Ast]) -> Vec<usize> {
        let mut core = Vec::new();
        // SAFETY: called after `Unsat`; the vector is counted while it is read.
        unsafe {
            let vector = ffi::Z3_solver_get_unsat_core(self.context, self.solver);
            if vector.is_null() {
                return core;
            }
            ffi::Z3_ast_vector_inc_ref(self.context, vector);
            for i in 0..ffi::Z3_ast_vector_size(self.context, vector) {
                let ast = ffi::Z3_ast_vector_get(self.context, vector, i);
                core.extend(literals.iter().position(|&l| l == ast));
            }
            ffi::Z3_ast_vector_dec_ref(self.context, vector);
        }
        core.sort_unstable();
        core
    }

    /// On the current level.
    fn assert_here(&mut self, term: ffi::Ast) -> Result<(), SmtError> {
        // SAFETY: a held Boolean term.
        unsafe {
            ffi::Z3_solver_assert(self.context, self.solver, term);
            if ffi::Z3_get_error_code(self.context) == ffi::ErrorCode::OK { Ok(()) } else { Err(self.error("assert")) }
        }
    }

    fn check_level(&mut self, literals: &[ffi::Ast]) -> Result<Verdict, SmtError> {
        // SAFETY: held literals; the old model is given back before the new one is counted.
        unsafe {
            let (context, solver, n) = (self.context, self.solver, literals.len() as u32);
            let answer = interrupt::during(context, self.limits.interrupt.as_deref(), || {
                ffi::Z3_solver_check_assumptions(context, solver, n, literals.as_ptr())
            });
            if answer == ffi::Lbool::FALSE {
                return Ok(Verdict::Unsat(self.failed(literals)));
            }
            if answer != ffi::Lbool::TRUE {
                return Ok(Verdict::Unknown(self.why()));
            }
            if !self.model.is_null() {
                ffi::Z3_model_dec_ref(self.context, self.model);
            }
            self.model = ffi::Z3_solver_get_model(self.context, self.solver);
            if self.model.is_null() {
                return Err(self.error("model"));
            }
            ffi::Z3_model_inc_ref(self.context, self.model);
        }
        Ok(Verdict::Sat)
    }

    fn why(&self) -> UnknownReason {
        if self.limits.interrupt.as_ref().is_some_and(|i| i.load(Ordering::Relaxed)) {
            return UnknownReason::Interrupted;
        }
        // SAFETY: the string is copied at once.
        let reason = unsafe {
            let text = ffi::Z3_solver_get_reason_unknown(self.context, self.solver);
            if text.is_null() { String::new() } else { CStr::from_ptr(text).to_string_lossy().into_owned() }
        };
        match reason.as_str() {
            _ if self.resources > 0 && (reason.contains("resource") || reason == "canceled") => UnknownReason::Steps,
            "timeout" | "canceled" => UnknownReason::Timeout,
            _ if reason.contains("memory") => UnknownReason::Memory,
            _ => UnknownReason::Unsupported(format!("z3: {reason}")),
        }
    }
}

impl Engine for Z3 {
    type Term = ffi::Ast;
    const MAX_DEPTH: u32 = 1_500;

    fn open(limits: &Limits) -> Result<Z3, SmtError> {
        // SAFETY: the configuration may go once the context exists; without a handler errors only set the code.
        unsafe {
            let config = ffi::Z3_mk_config();
            let context = ffi::Z3_mk_context_rc(config);
            ffi::Z3_del_config(config);
            if context.is_null() {
                return Err(SmtError::Backend("z3: no context".into()));
            }
            ffi::Z3_set_error_handler(context, None);
            let mut made = Z3 {
                context,
                solver: ptr::null_mut(),
                model: ptr::null_mut(),
                sorts: FxHashMap::default(),
                held: Vec::new(),
                literals: FxHashMap::default(),
                asserted: Vec::new(),
                rich: false,
                resources: 0,
                limits: limits.clone(),
            };
            let logic = ffi::Z3_mk_string_symbol(context, c"QF_BV".as_ptr());
            made.install(ffi::Z3_mk_solver_for_logic(context, logic))?;
            Ok(made)
        }
    }

    fn truth(&mut self, value: bool) -> Result<ffi::Ast, SmtError> {
        // SAFETY: the context is alive.
        let t = unsafe { if value { ffi::Z3_mk_true(self.context) } else { ffi::Z3_mk_false(self.context) } };
        self.hold(t)
    }

    fn bits(&mut self, width: u16, limbs: &[u64]) -> Result<ffi::Ast, SmtError> {
        let sort = self.sort(Sort::Bits(width))?;
        let t = if width <= 64 {
            // SAFETY: the sort is held.
            unsafe { ffi::Z3_mk_unsigned_int64(self.context, limbs[0], sort) }
        } else {
            let bits: Vec<bool> = (0..width)
                .map(|i| limbs.get(usize::from(i / 64)).is_some_and(|limb| limb >> (i % 64) & 1 == 1))
                .collect();
            // SAFETY: `width` bits are there to be read.
            unsafe { ffi::Z3_mk_bv_numeral(self.context, width.into(), bits.as_ptr()) }
        };
        self.hold(t)
    }

    fn fresh(&mut self, sort: Sort) -> Result<ffi::Ast, SmtError> {
        if let Sort::Array { .. } = sort {
            self.enrich()?;
        }
        let sort = self.sort(sort)?;
        // SAFETY: the sort is held; the prefix is a C string.
        let t = unsafe { ffi::Z3_mk_fresh_const(self.context, c"k".as_ptr(), sort) };
        self.hold(t)
    }

    fn apply(&mut self, fun: Fun, args: &[ffi::Ast]) -> Result<ffi::Ast, SmtError> {
        if fun.beyond_bits() {
            self.enrich()?;
        }
        let t = self.make(fun, args)?;
        self.hold(t)
    }

    fn forall(&mut self, bound: ffi::Ast, _: Sort, body: ffi::Ast) -> Result<ffi::Ast, SmtError> {
        self.enrich()?;
        // SAFETY: held terms; `bound` is a plain constant; no patterns.
        let t = unsafe { ffi::Z3_mk_forall_const(self.context, 0, 1, &bound, 0, ptr::null(), body) };
        self.hold(t)
    }

    fn assert(&mut self, term: ffi::Ast) -> Result<(), SmtError> {
        self.asserted.push(term);
        self.assert_here(term)
    }

    fn set_timeout(&mut self, timeout: Option<std::time::Duration>) {
        self.limits.timeout = timeout;
        self.set_limits(self.resources);
    }

    fn check(&mut self, assumptions: &[ffi::Ast], _: Check) -> Result<Verdict, SmtError> {
        let allowed = self.limits.steps.limit.get().map_or(0, |n| n.max(1).saturating_mul(RESOURCES_PER_STEP));
        let allowed = u32::try_from(allowed).unwrap_or(u32::MAX);
        if allowed != self.resources {
            self.set_limits(allowed);
        }
        let pairs = assumptions.iter().map(|&t| self.literal(t)).collect::<Result<Vec<_>, _>>()?;
        let literals: Vec<ffi::Ast> = pairs.iter().map(|(p, _)| *p).collect();
        // The implications live on a level of their own: those of other queries would only be in the way.
        // SAFETY: the solver is alive; every push is popped below.
        unsafe { ffi::Z3_solver_push(self.context, self.solver) };
        let mut verdict = pairs.iter().try_for_each(|(_, implies)| self.assert_here(*implies)).map(|()| Verdict::Sat);
        if verdict.is_ok() {
            verdict = self.check_level(&literals);
        }
        // SAFETY: pops the level pushed above.
        unsafe { ffi::Z3_solver_pop(self.context, self.solver, 1) };
        verdict
    }

    fn value(&mut self, term: ffi::Ast) -> Result<Vec<u64>, SmtError> {
        let mut value: ffi::Ast = ptr::null_mut();
        // SAFETY: a held term and a counted model; the value is counted while it is read, its text copied at once.
        unsafe {
            if !ffi::Z3_model_eval(self.context, self.model, term, true, &mut value) || value.is_null() {
                return Err(self.error("value"));
            }
            ffi::Z3_inc_ref(self.context, value);
            let mut small = 0u64;
            let truth = ffi::Z3_get_bool_value(self.context, value);
            let limbs = if truth != ffi::Lbool::UNDEF {
                vec![u64::from(truth == ffi::Lbool::TRUE)]
            } else if ffi::Z3_get_numeral_uint64(self.context, value, &mut small) {
                vec![small]
            } else {
                let text = ffi::Z3_get_numeral_binary_string(self.context, value);
                let bytes = if text.is_null() { &[][..] } else { CStr::from_ptr(text).to_bytes() };
                super::encode::limbs_of_binary(bytes)
            };
            ffi::Z3_dec_ref(self.context, value);
            Ok(limbs)
        }
    }
}
