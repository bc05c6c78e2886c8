//! Bitwuzla as an [`Engine`]: the safe layer over its C API.
#![allow(unsafe_code)]

mod detached;
pub mod ffi;
mod stop;
mod terms;

use super::{Check, Engine, Fun, Limits, Sort, Steps, Verdict};
use crate::answer::UnknownReason;
use crate::error::SmtError;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;
use stop::Stop;

thread_local! {
    /// What the library last complained about on this thread. Its callback carries no state, so this cannot be a field.
    static COMPLAINT: RefCell<Option<String>> = const { RefCell::new(None) };
}

unsafe extern "C" fn complain(message: *const c_char) {
    // SAFETY: the library hands over a C string that is valid during the call.
    let text = unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned();
    COMPLAINT.with(|c| *c.borrow_mut() = Some(text));
}

pub struct Bitwuzla {
    manager: *mut ffi::TermManager,
    solver: *mut ffi::Solver,
    stop: Arc<Stop>,
    steps: Rc<Steps>,
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
        let mut made = Bitwuzla {
            manager: ptr::null_mut(),
            solver: ptr::null_mut(),
            stop: Arc::new(Stop::new(limits)),
            steps: Rc::clone(&limits.steps),
            timeout: limits.timeout,
            limited_memory: limits.memory_mib.is_some(),
            sorts: FxHashMap::default(),
        };
        // SAFETY: options are used for one `bitwuzla_new`, which copies them; what was made is owned by `made` at once.
        // `stop` is counted, so its address is stable, and it is dropped after the solver.
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
            let state = Arc::as_ptr(&made.stop).cast_mut().cast::<c_void>();
            ffi::bitwuzla_set_termination_callback(made.solver, Some(stop::poll), state);
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

    fn set_timeout(&mut self, timeout: Option<std::time::Duration>) {
        self.timeout = timeout;
    }

    fn check(&mut self, assumptions: &[ffi::Term], how: Check) -> Result<Verdict, SmtError> {
        self.stop.arm(&self.steps, self.timeout);
        let outcome = match how {
            Check::Large if self.stop.interrupt.is_some() || self.timeout.is_some() => {
                detached::check(self.solver, self.manager, assumptions, &self.stop)
            }
            _ => Ok(check_on_this_thread(self.solver, assumptions)),
        };
        self.steps.taken.set(self.steps.taken.get() + self.stop.polled());
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(why) => {
                // They belong to the thread now.
                self.solver = ptr::null_mut();
                self.manager = ptr::null_mut();
                return Ok(Verdict::Unknown(why));
            }
        };
        if outcome.answer == ffi::Answer::SAT {
            return Ok(Verdict::Sat);
        }
        if outcome.answer == ffi::Answer::UNSAT {
            return Ok(Verdict::Unsat(outcome.failed));
        }
        if let Some(text) = outcome.complaint {
            return Err(SmtError::Backend(format!("bitwuzla: {text}")));
        }
        let unknown = || match self.limited_memory {
            true => UnknownReason::Memory,
            false => UnknownReason::Unsupported("bitwuzla: no answer".into()),
        };
        Ok(Verdict::Unknown(self.stop.why().unwrap_or_else(unknown)))
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

/// What a check came to.
struct Checked {
    answer: ffi::Answer,
    /// after `Unsat`: positions of the assumptions that are needed for it
    failed: Vec<usize>,
    complaint: Option<String>,
}

impl Checked {
    fn failed(why: &str) -> Checked {
        Checked { answer: ffi::Answer::UNKNOWN, failed: Vec::new(), complaint: Some(why.into()) }
    }
}

fn check_on_this_thread(solver: *mut ffi::Solver, assumptions: &[ffi::Term]) -> Checked {
    COMPLAINT.with(|c| c.borrow_mut().take());
    // SAFETY: live Boolean terms of the solver's manager; the pointer of an empty slice is not null.
    let answer = unsafe { ffi::bitwuzla_check_sat_assuming(solver, assumptions.len() as u32, assumptions.as_ptr()) };
    let failed = if answer == ffi::Answer::UNSAT { failed(solver, assumptions) } else { Vec::new() };
    Checked { answer, failed, complaint: COMPLAINT.with(|c| c.borrow_mut().take()) }
}

fn failed(solver: *mut ffi::Solver, assumptions: &[ffi::Term]) -> Vec<usize> {
    let mut size = 0usize;
    // SAFETY: called after `Unsat`; the array is valid until the same function is called again, its terms hold a count
    // each, which goes back.
    unsafe {
        let list = ffi::bitwuzla_get_unsat_assumptions(solver, &mut size);
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
