//! Which of Z3's constructors a function is.
#![allow(unsafe_code)]

use super::super::{Format, Fun, Round};
use super::{Z3, ffi};
use crate::error::SmtError;

impl Z3 {
    fn mode(&mut self, round: Round) -> Result<ffi::Ast, SmtError> {
        let c = self.context;
        // SAFETY: the context is alive; the term is held at once.
        let t = unsafe {
            match round {
                Round::NearestEven => ffi::Z3_mk_fpa_rne(c),
                Round::NearestAway => ffi::Z3_mk_fpa_rna(c),
                Round::Up => ffi::Z3_mk_fpa_rtp(c),
                Round::Down => ffi::Z3_mk_fpa_rtn(c),
                Round::ToZero => ffi::Z3_mk_fpa_rtz(c),
            }
        };
        self.hold(t)
    }

    fn float_sort(&mut self, f: Format) -> Result<ffi::Sort, SmtError> {
        // SAFETY: the context is alive; the sort is held at once.
        let s = unsafe { ffi::Z3_mk_fpa_sort(self.context, f.exponent.into(), f.significand.into()) };
        self.hold(s.cast())?;
        Ok(s)
    }

    /// May be null, with the error code set. What is returned is not held yet.
    pub(super) fn make(&mut self, fun: Fun, a: &[ffi::Ast]) -> Result<ffi::Ast, SmtError> {
        let c = self.context;
        let n = a.len() as u32;
        let rm = match fun {
            Fun::FpAdd(r) | Fun::FpSub(r) | Fun::FpMul(r) | Fun::FpDiv(r) | Fun::FpFma(r) => Some(r),
            Fun::FpSqrt(r) | Fun::FpToIntegral(r) | Fun::FpFromFp(r, _) => Some(r),
            Fun::FpFromSigned(r, _) | Fun::FpFromUnsigned(r, _) => Some(r),
            Fun::FpToSigned(r, _) | Fun::FpToUnsigned(r, _) => Some(r),
            _ => None,
        };
        let rm = rm.map(|r| self.mode(r)).transpose()?.unwrap_or(std::ptr::null_mut());
        let format = match fun {
            Fun::FpFromBits(f) | Fun::FpFromFp(_, f) | Fun::FpFromSigned(_, f) | Fun::FpFromUnsigned(_, f) => Some(f),
            _ => None,
        };
        let sort = format.map(|f| self.float_sort(f)).transpose()?.unwrap_or(std::ptr::null_mut());
        // SAFETY: all arguments are held terms of this context, as many as the function takes.
        Ok(unsafe {
            match fun {
                Fun::Not => ffi::Z3_mk_not(c, a[0]),
                Fun::And => ffi::Z3_mk_and(c, n, a.as_ptr()),
                Fun::Or => ffi::Z3_mk_or(c, n, a.as_ptr()),
                Fun::Xor => ffi::Z3_mk_xor(c, a[0], a[1]),
                Fun::Equal => ffi::Z3_mk_eq(c, a[0], a[1]),
                Fun::Ite => ffi::Z3_mk_ite(c, a[0], a[1], a[2]),
                Fun::BvNot => ffi::Z3_mk_bvnot(c, a[0]),
                Fun::BvNeg => ffi::Z3_mk_bvneg(c, a[0]),
                Fun::BvAnd => ffi::Z3_mk_bvand(c, a[0], a[1]),
                Fun::BvOr => ffi::Z3_mk_bvor(c, a[0], a[1]),
                Fun::BvXor => ffi::Z3_mk_bvxor(c, a[0], a[1]),
                Fun::BvAdd => ffi::Z3_mk_bvadd(c, a[0], a[1]),
                Fun::BvSub => ffi::Z3_mk_bvsub(c, a[0], a[1]),
                Fun::BvMul => ffi::Z3_mk_bvmul(c, a[0], a[1]),
                Fun::BvUdiv => ffi::Z3_mk_bvudiv(c, a[0], a[1]),
                Fun::BvSdiv => ffi::Z3_mk_bvsdiv(c, a[0], a[1]),
                Fun::BvUrem => ffi::Z3_mk_bvurem(c, a[0], a[1]),
                Fun::BvSrem => ffi::Z3_mk_bvsrem(c, a[0], a[1]),
                Fun::BvShl => ffi::Z3_mk_bvshl(c, a[0], a[1]),
                Fun::BvLshr => ffi::Z3_mk_bvlshr(c, a[0], a[1]),
                Fun::BvAshr => ffi::Z3_mk_bvashr(c, a[0], a[1]),
                Fun::BvUlt => ffi::Z3_mk_bvult(c, a[0], a[1]),
                Fun::BvUle => ffi::Z3_mk_bvule(c, a[0], a[1]),
                Fun::BvSlt => ffi::Z3_mk_bvslt(c, a[0], a[1]),
                Fun::BvSle => ffi::Z3_mk_bvsle(c, a[0], a[1]),
                Fun::Concat => ffi::Z3_mk_concat(c, a[0], a[1]),
                Fun::Extract { high, low } => ffi::Z3_mk_extract(c, high.into(), low.into(), a[0]),
                Fun::ZeroExtend(by) => ffi::Z3_mk_zero_ext(c, by.into(), a[0]),
                Fun::SignExtend(by) => ffi::Z3_mk_sign_ext(c, by.into(), a[0]),
                Fun::Select => ffi::Z3_mk_select(c, a[0], a[1]),
                Fun::Store => ffi::Z3_mk_store(c, a[0], a[1], a[2]),
                Fun::FpFromBits(_) => ffi::Z3_mk_fpa_to_fp_bv(c, a[0], sort),
                Fun::FpAdd(_) => ffi::Z3_mk_fpa_add(c, rm, a[0], a[1]),
                Fun::FpSub(_) => ffi::Z3_mk_fpa_sub(c, rm, a[0], a[1]),
                Fun::FpMul(_) => ffi::Z3_mk_fpa_mul(c, rm, a[0], a[1]),
                Fun::FpDiv(_) => ffi::Z3_mk_fpa_div(c, rm, a[0], a[1]),
                Fun::FpFma(_) => ffi::Z3_mk_fpa_fma(c, rm, a[0], a[1], a[2]),
                Fun::FpSqrt(_) => ffi::Z3_mk_fpa_sqrt(c, rm, a[0]),
                Fun::FpToIntegral(_) => ffi::Z3_mk_fpa_round_to_integral(c, rm, a[0]),
                Fun::FpEq => ffi::Z3_mk_fpa_eq(c, a[0], a[1]),
                Fun::FpLt => ffi::Z3_mk_fpa_lt(c, a[0], a[1]),
                Fun::FpLe => ffi::Z3_mk_fpa_leq(c, a[0], a[1]),
                Fun::FpIsNan => ffi::Z3_mk_fpa_is_nan(c, a[0]),
                Fun::FpFromFp(..) => ffi::Z3_mk_fpa_to_fp_float(c, rm, a[0], sort),
                Fun::FpFromSigned(..) => ffi::Z3_mk_fpa_to_fp_signed(c, rm, a[0], sort),
                Fun::FpFromUnsigned(..) => ffi::Z3_mk_fpa_to_fp_unsigned(c, rm, a[0], sort),
                Fun::FpToSigned(_, w) => ffi::Z3_mk_fpa_to_sbv(c, rm, a[0], w.into()),
                Fun::FpToUnsigned(_, w) => ffi::Z3_mk_fpa_to_ubv(c, rm, a[0], w.into()),
            }
        })
    }
}
