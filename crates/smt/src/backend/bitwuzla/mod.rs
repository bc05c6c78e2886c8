//! Bitwuzla as an [`Engine`]: the safe layer over its C API.
#![allow(unsafe_code)]

pub mod ffi;
mod terms;

use super::{Engine, Fun, Limits, Sort, Steps, Verdict};
use crate::answer::UnknownReason;
use crate::error::SmtError;
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

thread_local! {
    /// What the library last complained about on this thread. Its callback carries no state, so this cannot be a field.
    static COMPLAINT: RefCell<Option<String>> = const { RefCell::new(None) };
}

unsafe extern "C" fn complain(message: *const c_char) {
    // SAFETY: the library hands over a C string that is valid during the call.
    let text = unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned();
    COMPLAINT.with(|c| *c.borrow_mut() = Some(text));
}

/// Polled by the library during a check.
struct Stop {
    at: Cell<Option<Instant>>,
    interrupt: Option<Arc<AtomicBool>>,
    why: Cell<Option<Reason>>,
    /// how often it was polled
    steps: Rc<Steps>,
    /// how often it may be
    last: Cell<u64>,
}

#[derive(Clone, Copy)]
enum Reason {
    Steps,
    Time,
    Interrupt,
}

unsafe extern "C" fn poll(state: *mut c_void) -> i32 {
    // SAFETY: `state` is the `Stop` boxed in the `Bitwuzla` that runs the check; it is only ever shared, its fields are
    // cells.
    let stop = unsafe { &*state.cast::<Stop>() };
    let taken = stop.steps.taken.get() + 1;
    stop.steps.taken.set(taken);
    if taken > stop.last.get() {
        stop.why.set(Some(Reason::Steps));
        return 1;
    }
    if stop.interrupt.as_ref().is_some_and(|i| i.load(Ordering::Relaxed)) {
        stop.why.set(Some(Reason::Interrupt));
        return 1;
    }
    if stop.at.get().is_some_and(|at| Instant::now() >= at) {
        stop.why.set(Some(Reason::Time));
        return 1;
    }
    0
}

pub struct Bitwuzla {
    manager: *mut ffi::TermManager,
    solver: *mut ffi::Solver,
    stop: Box<Stop>,
    timeout: Option<std::time::Duration>,
    limited_memory: bool,
    sorts: FxHashMap<Sort, ffi::Sort>,
}

impl Drop for Bitwuzla {
    fn drop(&mut self) {
        // SAFETY: both were made in `open` and are deleted once, the solver before its manager; terms and sorts go with
        // it.
        unsafe {
            if !self.solver.is_null() {
                ffi::bitwuzla_delete(self.solver);
            }
            if !self.manager.is_null() {
                ffi::bitwuzla_term_manager_delete(self.manager);
            }
        }
    }
}

fn complaint(what: &str) -> SmtError {
    let text = COMPLAINT.with(|c| c.borrow_mut().take());
    SmtError::Backend(format!("bitwuzla: {}", text.unwrap_or_else(|| format!("{what} failed"))))
}

fn some<T>(handle: *mut T, what: &str) -> Result<*mut T, SmtError> {
    if handle.is_null() { Err(complaint(what)) } else { Ok(handle) }
}

impl Bitwuzla {
    fn sort(&mut self, sort: Sort) -> Result<ffi::Sort, SmtError> {
        if let Some(&s) = self.sorts.get(&sort) {
            return Ok(s);
        }
        let made = match sort {
            // SAFETY: the manager lives as long as `self`.
            Sort::Bool => unsafe { ffi::bitwuzla_mk_bool_sort(self.manager) },
            // SAFETY: as above; widths of terms are not 0.
            Sort::Bits(w) => unsafe { ffi::bitwuzla_mk_bv_sort(self.manager, u64::from(w)) },
            Sort::Array { index, element } => {
                let index = self.sort(Sort::Bits(index))?;
                let element = self.sort(Sort::Bits(element))?;
                // SAFETY: both sorts are of this manager.
                unsafe { ffi::bitwuzla_mk_array_sort(self.manager, index, element) }
            }
        };
        let made = some(made, "sort")?;
        self.sorts.insert(sort, made);
        Ok(made)
    }
}

impl Engine for Bitwuzla {
    type Term = ffi::Term;
    const MAX_DEPTH: u32 = u32::MAX;

    fn open(limits: &Limits) -> Result<Bitwuzla, SmtError> {
        // SAFETY: the version is a static string; the callback is a plain function and does not unwind.
        unsafe {
            let version = CStr::from_ptr(ffi::bitwuzla_version());
            if version != ffi::VERSION {
                return Err(SmtError::Backend(format!(
                    "bitwuzla {} is linked, not {:?}",
                    version.to_string_lossy(),
                    ffi::VERSION
                )));
            }
            ffi::bitwuzla_set_abort_callback(Some(complain));
        }
        let stop = Box::new(Stop {
            at: Cell::new(None),
            interrupt: limits.interrupt.clone(),
            why: Cell::new(None),
            steps: Rc::clone(&limits.steps),
            last: Cell::new(u64::MAX),
        });
        let mut made = Bitwuzla {
            manager: ptr::null_mut(),
            solver: ptr::null_mut(),
            stop,
            timeout: limits.timeout,
            limited_memory: limits.memory_mib.is_some(),
            sorts: FxHashMap::default(),
        };
        // SAFETY: options are used for one `bitwuzla_new`, which copies them; what was made is owned by `made` at once.
        // `stop` is boxed, so its address is stable, and it is dropped after the solver.
        unsafe {
            made.manager = some(ffi::bitwuzla_term_manager_new(), "term manager")?;
            let options = ffi::bitwuzla_options_new();
            ffi::bitwuzla_set_option(options, ffi::Opt::PRODUCE_MODELS, 1);
            ffi::bitwuzla_set_option(options, ffi::Opt::PRODUCE_UNSAT_ASSUMPTIONS, 1);
            if let Some(mib) = limits.memory_mib {
                ffi::bitwuzla_set_option(options, ffi::Opt::MEMORY_LIMIT, mib);
            }
            made.solver = ffi::bitwuzla_new(made.manager, options);
            ffi::bitwuzla_options_delete(options);
            some(made.solver, "solver")?;
            let state = ptr::from_ref::<Stop>(&made.stop).cast_mut().cast::<c_void>();
            ffi::bitwuzla_set_termination_callback(made.solver, Some(poll), state);
        }
        Ok(made)
    }

    fn truth(&mut self, value: bool) -> Result<ffi::Term, SmtError> {
        // SAFETY: the manager lives as long as `self`.
        let t =
            unsafe { if value { ffi::bitwuzla_mk_true(self.manager) } else { ffi::bitwuzla_mk_false(self.manager) } };
        some(t, "truth value")
    }

    fn bits(&mut self, width: u16, limbs: &[u64]) -> Result<ffi::Term, SmtError> {
        let sort = self.sort(Sort::Bits(width))?;
        let t = if width <= 64 {
            // SAFETY: the sort is of this manager.
            unsafe { ffi::bitwuzla_mk_bv_value_uint64(self.manager, sort, limbs[0]) }
        } else {
            let mut digits = String::new();
            for i in (0..width).rev() {
                let limb = limbs.get(usize::from(i / 64)).copied().unwrap_or(0);
                digits.push(if limb >> (i % 64) & 1 == 1 { '1' } else { '0' });
            }
            digits.push('\0');
            // SAFETY: as above; the digits end in a NUL and are copied.
            unsafe { ffi::bitwuzla_mk_bv_value(self.manager, sort, digits.as_ptr().cast(), 2) }
        };
        some(t, "value")
    }

    fn fresh(&mut self, sort: Sort) -> Result<ffi::Term, SmtError> {
        let sort = self.sort(sort)?;
        // SAFETY: the sort is of this manager; the symbol may be null.
        some(unsafe { ffi::bitwuzla_mk_const(self.manager, sort, ptr::null()) }, "constant")
    }

    fn apply(&mut self, fun: Fun, args: &[ffi::Term]) -> Result<ffi::Term, SmtError> {
        some(self.make(fun, args)?, "term")
    }

    fn forall(&mut self, bound: ffi::Term, sort: Sort, body: ffi::Term) -> Result<ffi::Term, SmtError> {
        let sort = self.sort(sort)?;
        // SAFETY: all handles are of this manager; each variable is bound here and nowhere else.
        unsafe {
            let var = some(ffi::bitwuzla_mk_var(self.manager, sort, ptr::null()), "bound variable")?;
            let body = some(ffi::bitwuzla_substitute_term(body, 1, &bound, &var), "substitution")?;
            some(ffi::bitwuzla_mk_term2(self.manager, ffi::Kind::FORALL, var, body), "quantifier")
        }
    }

    fn assert(&mut self, term: ffi::Term) -> Result<(), SmtError> {
        // SAFETY: a live Boolean term of this manager.
        unsafe { ffi::bitwuzla_assert(self.solver, term) };
        Ok(())
    }

    fn check(&mut self, assumptions: &[ffi::Term]) -> Result<Verdict, SmtError> {
        COMPLAINT.with(|c| c.borrow_mut().take());
        self.stop.why.set(None);
        let steps = &self.stop.steps;
        self.stop.last.set(steps.limit.get().map_or(u64::MAX, |n| steps.taken.get() + n));
        self.stop.at.set(self.timeout.map(|t| Instant::now() + t));
        // SAFETY: live Boolean terms of this manager; the pointer of an empty slice is not null.
        let answer =
            unsafe { ffi::bitwuzla_check_sat_assuming(self.solver, assumptions.len() as u32, assumptions.as_ptr()) };
        if answer == ffi::Answer::SAT {
            return Ok(Verdict::Sat);
        }
        if answer == ffi::Answer::UNSAT {
            return Ok(Verdict::Unsat(self.failed(assumptions)));
        }
        if COMPLAINT.with(|c| c.borrow().is_some()) {
            return Err(complaint("check"));
        }
        Ok(Verdict::Unknown(match self.stop.why.get() {
            Some(Reason::Time) => UnknownReason::Timeout,
            Some(Reason::Steps) => UnknownReason::Steps,
            Some(Reason::Interrupt) => UnknownReason::Interrupted,
            None if self.limited_memory => UnknownReason::Memory,
            None => UnknownReason::Unsupported("bitwuzla: no answer".into()),
        }))
    }

    fn value(&mut self, term: ffi::Term) -> Result<Vec<u64>, SmtError> {
        // SAFETY: called after `Sat`; the value is released after its text, which lives in a thread-local buffer, was
        // read.
        unsafe {
            let value = some(ffi::bitwuzla_get_value(self.solver, term), "value")?;
            let limbs = if ffi::bitwuzla_term_is_bool(value) {
                vec![u64::from(ffi::bitwuzla_term_value_get_bool(value))]
            } else {
                let text = ffi::bitwuzla_term_value_get_str_fmt(value, 2);
                if text.is_null() {
                    return Err(complaint("reading a value"));
                }
                super::encode::limbs_of_binary(CStr::from_ptr(text).to_bytes())
            };
            ffi::bitwuzla_term_release(value);
            Ok(limbs)
        }
    }
}

impl Bitwuzla {
    fn failed(&mut self, assumptions: &[ffi::Term]) -> Vec<usize> {
        let mut size = 0usize;
        // SAFETY: called after `Unsat`; the array is valid until the same function is called again, its terms hold a
        // count each, which goes back.
        unsafe {
            let list = ffi::bitwuzla_get_unsat_assumptions(self.solver, &mut size);
            if list.is_null() || size == 0 {
                return Vec::new();
            }
            let failed = std::slice::from_raw_parts(list, size);
            let at = (0..assumptions.len()).filter(|&i| failed.contains(&assumptions[i])).collect();
            for &t in failed {
                ffi::bitwuzla_term_release(t);
            }
            at
        }
    }
}
