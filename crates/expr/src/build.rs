//! The rewriting builder: the only way the rest of the engine makes terms.
//!
//! *Idea*: every method folds constants, brings its arguments into the canonical order, tries the rules of its operator
//! family (`simplify/*`), and interns what is left. *Invariant*: the result equals the operator applied to the
//! arguments under every model; it is never larger than the arguments plus a constant. *Canonical*: constants stand on
//! the right of commutative operators, other arguments in the order of their ids; of the comparisons only `Eq Ult Ule
//! Slt Sle` exist.

use crate::bits::{self, Limbs};
use crate::fold::{self, Shape};
use crate::simplify;
use crate::term::{INDEX_BITS, Node, Op, TermId, Terms, arity, facts};

macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident $op:ident $rules:path;)*) => {$(
        $(#[$doc])*
        pub fn $name(&mut self, a: TermId, b: TermId) -> TermId {
            debug_assert_eq!(self.width(a), self.width(b), "widths of the arguments");
            let width = self.width(a);
            let (a, b) = self.ordered(Op::$op, a, b);
            if let Some(t) = self.fold(Op::$op, width, &[a, b], 0) {
                return t;
            }
            if let Some(t) = simplify::ite::lift(self, Op::$op, width, a, b) {
                return t;
            }
            match $rules(self, a, b) {
                Some(t) => t,
                None => self.intern(Op::$op, width, a.0, b.0, 0),
            }
        }
    )*};
}

macro_rules! predicate {
    ($($(#[$doc:meta])* $name:ident $op:ident $rules:path;)*) => {$(
        $(#[$doc])*
        pub fn $name(&mut self, a: TermId, b: TermId) -> TermId {
            debug_assert_eq!(self.width(a), self.width(b), "widths of the arguments");
            let (a, b) = self.ordered(Op::$op, a, b);
            if let Some(t) = self.fold(Op::$op, 1, &[a, b], 0) {
                return t;
            }
            if let Some(t) = simplify::ite::lift(self, Op::$op, 1, a, b) {
                return t;
            }
            match $rules(self, a, b) {
                Some(t) => t,
                None => self.intern(Op::$op, 1, a.0, b.0, 0),
            }
        }
    )*};
}

macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident $op:ident $rules:path;)*) => {$(
        $(#[$doc])*
        pub fn $name(&mut self, a: TermId) -> TermId {
            let width = self.width(a);
            if let Some(t) = self.fold(Op::$op, width, &[a], 0) {
                return t;
            }
            if let Some(t) = simplify::ite::lift_unary(self, Op::$op, a) {
                return t;
            }
            match $rules(self, a) {
                Some(t) => t,
                None => self.intern(Op::$op, width, a.0, 0, 0),
            }
        }
    )*};
}

impl Terms {
    unary! {
        not Not simplify::bitwise::not;
        neg Neg simplify::arith::neg;
        fsqrt FSqrt simplify::float::none;
    }
    binary! {
        add Add simplify::arith::add;
        sub Sub simplify::arith::sub;
        mul Mul simplify::mul::mul;
        udiv UDiv simplify::div::udiv;
        sdiv SDiv simplify::div::sdiv;
        urem URem simplify::div::urem;
        srem SRem simplify::div::srem;
        shl Shl simplify::shift::shl;
        lshr LShr simplify::shift::lshr;
        ashr AShr simplify::shift::ashr;
        and And simplify::bitwise::and;
        or Or simplify::bitwise::or;
        xor Xor simplify::bitwise::xor;
        fadd FAdd simplify::float::none2;
        fsub FSub simplify::float::none2;
        fmul FMul simplify::float::none2;
        fdiv FDiv simplify::float::none2;
        /// C's `fmod`.
        frem FRem simplify::float::none2;
    }
    predicate! {
        eq Eq simplify::equality::eq;
        ult Ult simplify::compare::ult;
        ule Ule simplify::compare::ule;
        slt Slt simplify::compare::slt;
        sle Sle simplify::compare::sle;
        feq FEq simplify::float::feq;
        flt FLt simplify::float::flt;
        fle FLe simplify::float::fle;
    }

    pub fn ne(&mut self, a: TermId, b: TermId) -> TermId {
        let e = self.eq(a, b);
        self.not(e)
    }
    pub fn ugt(&mut self, a: TermId, b: TermId) -> TermId {
        self.ult(b, a)
    }
    pub fn uge(&mut self, a: TermId, b: TermId) -> TermId {
        self.ule(b, a)
    }
    pub fn sgt(&mut self, a: TermId, b: TermId) -> TermId {
        self.slt(b, a)
    }
    pub fn sge(&mut self, a: TermId, b: TermId) -> TermId {
        self.sle(b, a)
    }
    pub fn implies(&mut self, a: TermId, b: TermId) -> TermId {
        let n = self.not(a);
        self.or(n, b)
    }
    pub fn and_all(&mut self, all: &[TermId]) -> TermId {
        all.iter().fold(Terms::TRUE, |acc, &t| self.and(acc, t))
    }
    pub fn or_all(&mut self, all: &[TermId]) -> TermId {
        all.iter().fold(Terms::FALSE, |acc, &t| self.or(acc, t))
    }

    /// `hi` above `lo`.
    pub fn concat(&mut self, hi: TermId, lo: TermId) -> TermId {
        let width = self.width(hi) + self.width(lo);
        if let Some(t) = self.fold(Op::Concat, width, &[hi, lo], 0) {
            return t;
        }
        match simplify::concat::concat(self, hi, lo) {
            Some(t) => t,
            None => self.intern(Op::Concat, width, hi.0, lo.0, 0),
        }
    }

    /// Bits `lo .. lo + width` of `t`.
    pub fn extract(&mut self, t: TermId, lo: u16, width: u16) -> TermId {
        debug_assert!(
            width > 0 && u32::from(lo) + u32::from(width) <= u32::from(self.width(t)),
            "extract within the term"
        );
        if width == self.width(t) {
            return t;
        }
        if let Some(t) = self.fold(Op::Extract, width, &[t], u32::from(lo)) {
            return t;
        }
        match simplify::extract::extract(self, t, lo, width) {
            Some(t) => t,
            None => self.intern(Op::Extract, width, t.0, u32::from(lo), 0),
        }
    }

    pub fn zext(&mut self, t: TermId, width: u16) -> TermId {
        debug_assert!(width >= self.width(t), "zext does not narrow");
        if width == self.width(t) {
            return t;
        }
        if let Some(t) = self.fold(Op::ZExt, width, &[t], 0) {
            return t;
        }
        match simplify::extend::zext(self, t, width) {
            Some(t) => t,
            None => self.intern(Op::ZExt, width, t.0, 0, 0),
        }
    }

    pub fn sext(&mut self, t: TermId, width: u16) -> TermId {
        debug_assert!(width >= self.width(t), "sext does not narrow");
        if width == self.width(t) {
            return t;
        }
        if let Some(t) = self.fold(Op::SExt, width, &[t], 0) {
            return t;
        }
        match simplify::extend::sext(self, t, width) {
            Some(t) => t,
            None => self.intern(Op::SExt, width, t.0, 0, 0),
        }
    }

    /// Cut or zero-extended to `width`.
    pub fn resize_unsigned(&mut self, t: TermId, width: u16) -> TermId {
        if width <= self.width(t) { self.extract(t, 0, width) } else { self.zext(t, width) }
    }
    /// Cut or sign-extended to `width`.
    pub fn resize_signed(&mut self, t: TermId, width: u16) -> TermId {
        if width <= self.width(t) { self.extract(t, 0, width) } else { self.sext(t, width) }
    }

    /// `a` if `c` else `b`; the arms may be arrays.
    pub fn ite(&mut self, c: TermId, a: TermId, b: TermId) -> TermId {
        debug_assert_eq!(self.width(c), 1, "a condition has one bit");
        debug_assert_eq!(self.width(a), self.width(b), "widths of the arms");
        if c == Terms::TRUE || a == b {
            return a;
        }
        if c == Terms::FALSE {
            return b;
        }
        match simplify::ite::ite(self, c, a, b) {
            Some(t) => t,
            None => self.intern(Op::Ite, self.width(a), c.0, a.0, b.0),
        }
    }

    pub fn read(&mut self, array: TermId, index: TermId) -> TermId {
        debug_assert!(self.has(array, facts::IS_ARRAY) && self.width(index) == INDEX_BITS, "read of an array");
        simplify::array::read(self, array, index)
    }

    pub fn store(&mut self, array: TermId, index: TermId, value: TermId) -> TermId {
        debug_assert!(self.has(array, facts::IS_ARRAY) && self.width(index) == INDEX_BITS, "store into an array");
        debug_assert_eq!(self.width(array), self.width(value), "width of the element");
        match simplify::array::store(self, array, index, value) {
            Some(t) => t,
            None => self.intern(Op::Store, self.width(array), array.0, index.0, value.0),
        }
    }

    /// The arrays are equal in every cell.
    pub fn array_eq(&mut self, a: TermId, b: TermId) -> TermId {
        debug_assert!(self.has(a, facts::IS_ARRAY) && self.has(b, facts::IS_ARRAY), "two arrays");
        debug_assert_eq!(self.width(a), self.width(b), "widths of the elements");
        match a.cmp(&b) {
            std::cmp::Ordering::Equal => Terms::TRUE,
            std::cmp::Ordering::Less => self.intern(Op::ArrayEq, 1, a.0, b.0, 0),
            std::cmp::Ordering::Greater => self.intern(Op::ArrayEq, 1, b.0, a.0, 0),
        }
    }

    /// `body` for every value of `var` below `count`, unsigned. The variable must be used nowhere but in `body`. It is
    /// renamed, so that quantifiers that differ in names only are one term.
    pub fn forall(&mut self, var: TermId, count: TermId, body: TermId) -> TermId {
        debug_assert!(self.op(var) == Op::Var && self.width(body) == 1, "forall binds a variable in a condition");
        debug_assert_eq!(self.width(var), self.width(count), "widths of the variable and its end");
        match simplify::quantifier::forall(self, var, count, body) {
            Some(t) => t,
            None => {
                let (var, body) = self.with_own_variable(var, body);
                self.intern(Op::Forall, 1, var.0, count.0, body.0)
            }
        }
    }

    /// Rounds to an integral float; `mode` as in [`Op::FRound`].
    pub fn fround(&mut self, t: TermId, mode: u32) -> TermId {
        self.float_unary(Op::FRound, self.width(t), t, mode)
    }
    /// `a * b + c`, rounded once.
    pub fn ffma(&mut self, a: TermId, b: TermId, c: TermId) -> TermId {
        debug_assert!(self.width(a) == self.width(b) && self.width(b) == self.width(c), "widths of the arguments");
        let width = self.width(a);
        match self.fold(Op::FFma, width, &[a, b, c], 0) {
            Some(t) => t,
            None => self.intern(Op::FFma, width, a.0, b.0, c.0),
        }
    }
    pub fn fisnan(&mut self, t: TermId) -> TermId {
        self.float_unary(Op::FIsNan, 1, t, 0)
    }
    /// The float `t` as a float of `width` bits.
    pub fn fresize(&mut self, t: TermId, width: u16) -> TermId {
        if width == self.width(t) { t } else { self.float_unary(Op::FResize, width, t, 0) }
    }
    pub fn fto_signed(&mut self, t: TermId, width: u16) -> TermId {
        self.float_unary(Op::FToSigned, width, t, 4)
    }
    pub fn fto_unsigned(&mut self, t: TermId, width: u16) -> TermId {
        self.float_unary(Op::FToUnsigned, width, t, 4)
    }
    pub fn ffrom_signed(&mut self, t: TermId, float_width: u16) -> TermId {
        self.float_unary(Op::FFromSigned, float_width, t, 0)
    }
    pub fn ffrom_unsigned(&mut self, t: TermId, float_width: u16) -> TermId {
        self.float_unary(Op::FFromUnsigned, float_width, t, 0)
    }

    fn float_unary(&mut self, op: Op, width: u16, t: TermId, immediate: u32) -> TermId {
        match self.fold(op, width, &[t], immediate) {
            Some(t) => t,
            None => self.intern(op, width, t.0, immediate, 0),
        }
    }

    /// Constants to the right, else the older term first.
    #[inline]
    fn ordered(&self, op: Op, a: TermId, b: TermId) -> (TermId, TermId) {
        if !op.is_commutative() {
            return (a, b);
        }
        match (self.is_constant(a), self.is_constant(b)) {
            (true, false) => (b, a),
            (false, true) => (a, b),
            _ if b < a => (b, a),
            _ => (a, b),
        }
    }

    /// The operator on constants; `None` if some argument is not one or the operator cannot be computed.
    pub(crate) fn fold(&mut self, op: Op, width: u16, args: &[TermId], immediate: u32) -> Option<TermId> {
        let mut values = [0u64; 3];
        let mut all_narrow = width <= 64;
        for (i, &t) in args.iter().enumerate() {
            let n = self.node(t);
            match n.op {
                Op::Const => values[i] = n.value(),
                Op::Wide => all_narrow = false,
                _ => return None,
            }
        }
        let b = args.get(1).map_or(0, |&t| self.width(t));
        let shape = Shape { op, width, a: self.width(args[0]), b, immediate };
        if all_narrow {
            let v = fold::narrow(shape, values[0], values[1], values[2])?;
            return Some(self.constant(width, v));
        }
        let mut wide: [Limbs; 3] = Default::default();
        for (i, &t) in args.iter().enumerate() {
            wide[i] = self.constant_limbs(t)?;
        }
        let v = fold::wide(shape, &wide[0], &wide[1], &wide[2])?;
        Some(self.wide_constant(width, &v))
    }

    /// The limbs of a constant of any width.
    pub fn constant_limbs(&self, t: TermId) -> Option<Limbs> {
        match self.op(t) {
            Op::Const => Some(bits::from_u64(self.node(t).value(), self.width(t))),
            Op::Wide => Some(Limbs::from_slice(self.limbs(t))),
            _ => None,
        }
    }

    /// The operator of `n`, built anew by the rewriting builder on other arguments.
    pub fn rebuild(&mut self, n: Node, args: &[TermId]) -> TermId {
        debug_assert_eq!(args.len(), arity(n.op));
        let a = args.first().copied().unwrap_or(Terms::FALSE);
        let b = args.get(1).copied().unwrap_or(Terms::FALSE);
        let c = args.get(2).copied().unwrap_or(Terms::FALSE);
        match n.op {
            Op::Const | Op::Wide | Op::Var | Op::Base | Op::ArrayVar | Op::ArrayConst => {
                self.intern(n.op, n.width, n.a, n.b, n.c)
            }
            Op::Store => self.store(a, b, c),
            Op::Read => self.read(a, b),
            Op::Not => self.not(a),
            Op::And => self.and(a, b),
            Op::Or => self.or(a, b),
            Op::Xor => self.xor(a, b),
            Op::Neg => self.neg(a),
            Op::Add => self.add(a, b),
            Op::Sub => self.sub(a, b),
            Op::Mul => self.mul(a, b),
            Op::UDiv => self.udiv(a, b),
            Op::SDiv => self.sdiv(a, b),
            Op::URem => self.urem(a, b),
            Op::SRem => self.srem(a, b),
            Op::Shl => self.shl(a, b),
            Op::LShr => self.lshr(a, b),
            Op::AShr => self.ashr(a, b),
            Op::Eq => self.eq(a, b),
            Op::Ult => self.ult(a, b),
            Op::Ule => self.ule(a, b),
            Op::Slt => self.slt(a, b),
            Op::Sle => self.sle(a, b),
            Op::Concat => self.concat(a, b),
            Op::Extract => self.extract(a, n.b as u16, n.width),
            Op::ZExt => self.zext(a, n.width),
            Op::SExt => self.sext(a, n.width),
            Op::Ite => self.ite(a, b, c),
            Op::ArrayEq => self.array_eq(a, b),
            Op::Forall => self.forall(a, b, c),
            Op::FAdd => self.fadd(a, b),
            Op::FSub => self.fsub(a, b),
            Op::FMul => self.fmul(a, b),
            Op::FDiv => self.fdiv(a, b),
            Op::FRem => self.frem(a, b),
            Op::FSqrt => self.fsqrt(a),
            Op::FFma => self.ffma(a, b, c),
            Op::FEq => self.feq(a, b),
            Op::FLt => self.flt(a, b),
            Op::FLe => self.fle(a, b),
            Op::FResize => self.fresize(a, n.width),
            Op::FRound | Op::FIsNan | Op::FToSigned | Op::FToUnsigned | Op::FFromSigned | Op::FFromUnsigned => {
                self.float_unary(n.op, n.width, a, n.b)
            }
        }
    }
}
