//! LLVM's intrinsics on vectors: reductions, masked accesses lane by lane, rearrangements.

use super::Unsupported;
use super::emit::{Leaves, Lowered, Lowering, one};
use crate::llvm::{Inst, Value};
use pleach_ir::{self as ir, BinOp, CastOp, Const, FBinOp, Global, GlobalId, Init, Opnd, ScalarFn, Span, Symbol, Ty};

/// How two lanes become one.
enum Step {
    Bin(BinOp),
    Float(FBinOp),
    Fn(ScalarFn),
}

fn step(op: &str) -> Option<Step> {
    Some(match op {
        "add" => Step::Bin(BinOp::Add),
        "mul" => Step::Bin(BinOp::Mul),
        "and" => Step::Bin(BinOp::And),
        "or" => Step::Bin(BinOp::Or),
        "xor" => Step::Bin(BinOp::Xor),
        "smax" => Step::Fn(ScalarFn::SMax),
        "smin" => Step::Fn(ScalarFn::SMin),
        "umax" => Step::Fn(ScalarFn::UMax),
        "umin" => Step::Fn(ScalarFn::UMin),
        "fmax" => Step::Fn(ScalarFn::FMaxNum),
        "fmin" => Step::Fn(ScalarFn::FMinNum),
        "fadd" => Step::Float(FBinOp::Add),
        "fmul" => Step::Float(FBinOp::Mul),
        _ => return None,
    })
}

/// Where lanes that a mask switches off are read and written.
const NOWHERE: &str = "llvm.masked.off";
const NOWHERE_BYTES: u64 = 64;

impl<'m> Lowering<'_, 'm> {
    /// `None`: not one of these.
    pub fn vector_intrinsic(&mut self, inst: Inst<'m>, base: &str, args: &[Value<'m>]) -> Lowered<Option<Leaves>> {
        if let Some(op) = base.strip_prefix("vector.reduce.") {
            let Some(step) = step(op) else { return Ok(None) };
            return self.reduction(&step, args).map(Some);
        }
        Ok(Some(match (base, args) {
            ("masked.load", [ptr, _, mask, otherwise]) => {
                let places = self.places(*ptr, inst.value())?;
                self.masked_load(places, *mask, *otherwise)?
            }
            ("masked.gather", [places, _, mask, otherwise]) => {
                let places = self.operands(*places)?;
                self.masked_load(places, *mask, *otherwise)?
            }
            ("masked.store", [values, ptr, _, mask]) => {
                let places = self.places(*ptr, *values)?;
                self.masked_store(*values, places, *mask)?
            }
            ("masked.scatter", [values, places, _, mask]) => {
                let places = self.operands(*places)?;
                self.masked_store(*values, places, *mask)?
            }
            ("masked.expandload", [ptr, mask, otherwise]) => {
                let places = self.packed_places(*ptr, *mask, *otherwise)?;
                self.masked_load(places, *mask, *otherwise)?
            }
            ("masked.compressstore", [values, ptr, mask]) => {
                let places = self.packed_places(*ptr, *mask, *values)?;
                self.masked_store(*values, places, *mask)?
            }
            ("vector.insert", [whole, part, at]) => {
                let (mut whole, part) = (self.operands(*whole)?, self.operands(*part)?);
                let at = at.as_u64().unwrap_or(0) as usize;
                for (i, lane) in part.into_iter().enumerate() {
                    *whole.get_mut(at + i).ok_or_else(|| Unsupported::new("llvm.vector.insert"))? = lane;
                }
                whole
            }
            ("vector.extract", [whole, at]) => {
                let n = self.leaf_types(inst.value())?.len();
                let at = at.as_u64().unwrap_or(0) as usize;
                self.operands(*whole)?.into_iter().skip(at).take(n).collect()
            }
            ("vector.reverse" | "experimental.vector.reverse", [v]) => self.operands(*v)?.into_iter().rev().collect(),
            ("vector.splice" | "experimental.vector.splice", [a, b, at]) => {
                let (a, b) = (self.operands(*a)?, self.operands(*b)?);
                let (n, at) = (a.len(), at.as_u64().unwrap_or(0) as u32 as i32);
                let skip = if at >= 0 { at as usize } else { n - at.unsigned_abs() as usize };
                a.into_iter().chain(b).skip(skip).take(n).collect()
            }
            ("vector.interleave2" | "experimental.vector.interleave2", [a, b]) => {
                let (a, b) = (self.operands(*a)?, self.operands(*b)?);
                a.into_iter().zip(b).flat_map(|(a, b)| [a, b]).collect()
            }
            ("vector.deinterleave2" | "experimental.vector.deinterleave2", [v]) => {
                let v = self.operands(*v)?;
                v.iter().step_by(2).chain(v.iter().skip(1).step_by(2)).copied().collect()
            }
            ("x86.sse2.pmovmskb.128" | "x86.avx2.pmovmskb" | "x86.sse.movmsk.ps" | "x86.sse2.movmsk.pd", [v])
            | ("x86.avx.movmsk.ps.256" | "x86.avx.movmsk.pd.256", [v]) => one(self.sign_bits(*v)?),
            _ => return Ok(None),
        }))
    }

    /// All lanes of the last argument combined, from the first to the last; a start value comes before them.
    fn reduction(&mut self, step: &Step, args: &[Value<'m>]) -> Lowered<Leaves> {
        let Some((v, start)) = args.split_last() else { return Ok(Leaves::new()) };
        let types = self.leaf_types(*v)?;
        let lanes = self.operands(*v)?;
        let mut whole = start.first().map(|s| self.operand(*s)).transpose()?;
        for (ty, lane) in types.iter().zip(lanes) {
            whole = Some(match (whole, step) {
                (None, _) => lane,
                (Some(w), Step::Bin(op)) => self.bin_into(*op, 0, *ty, w, lane),
                (Some(w), Step::Float(op)) => self.fbin(*op, *ty, w, lane)?,
                (Some(w), Step::Fn(op)) => self.scalar_fn(*op, *ty, &[w, lane]),
            });
        }
        Ok(whole.into_iter().collect())
    }

    /// The address of each lane of a vector like `v` that lies at `ptr`.
    fn places(&mut self, ptr: Value<'m>, v: Value<'m>) -> Lowered<Leaves> {
        let base = self.operand(ptr)?;
        let types = self.leaf_types(v)?;
        let mut at = 0;
        let mut out = Leaves::new();
        for ty in types.iter() {
            out.push(self.offset(base, at));
            at += self.lane_bytes(*ty)?;
        }
        Ok(out)
    }

    /// The same where only the lanes that are switched on take room.
    fn packed_places(&mut self, ptr: Value<'m>, mask: Value<'m>, v: Value<'m>) -> Lowered<Leaves> {
        let mut at = self.operand(ptr)?;
        let types = self.leaf_types(v)?;
        let mask = self.operands(mask)?;
        let mut out = Leaves::new();
        for (ty, on) in types.iter().zip(mask) {
            out.push(at);
            let bytes = self.lane_bytes(*ty)?;
            let after = self.offset(at, bytes);
            at = self.select(Ty::Ptr, on, after, at);
        }
        Ok(out)
    }

    fn lane_bytes(&self, ty: Ty) -> Lowered<u64> {
        let bits = u64::from(self.bits(ty));
        if bits % 8 == 0 { Ok(bits / 8) } else { Err(Unsupported::new(format!("a masked access of {bits} bits"))) }
    }

    fn masked_load(&mut self, places: Leaves, mask: Value<'m>, otherwise: Value<'m>) -> Lowered<Leaves> {
        let types = self.leaf_types(otherwise)?;
        let (mask, otherwise) = (self.operands(mask)?, self.operands(otherwise)?);
        let mut out = Leaves::new();
        for (i, ty) in types.iter().enumerate() {
            let ptr = self.place_if(mask[i], places[i])?;
            let dst = self.slot(*ty);
            self.push(ir::Inst::Load { ty: *ty, volatile: false, align: 0, dst, ptr });
            out.push(self.select(*ty, mask[i], Opnd::slot(dst), otherwise[i]));
        }
        Ok(out)
    }

    fn masked_store(&mut self, values: Value<'m>, places: Leaves, mask: Value<'m>) -> Lowered<Leaves> {
        let types = self.leaf_types(values)?;
        let (mask, values) = (self.operands(mask)?, self.operands(values)?);
        for (i, ty) in types.iter().enumerate() {
            let ptr = self.place_if(mask[i], places[i])?;
            self.push(ir::Inst::Store { ty: *ty, volatile: false, align: 0, ptr, value: values[i] });
        }
        Ok(Leaves::new())
    }

    /// `place`, or a place that nobody looks at.
    fn place_if(&mut self, on: Opnd, place: Opnd) -> Lowered<Opnd> {
        let known = self.unit.program.globals.iter().position(|g| g.name == NOWHERE);
        let id = known.map(GlobalId::new).unwrap_or_else(|| {
            self.unit.program.globals.push(Global {
                name: NOWHERE.into(),
                size: NOWHERE_BYTES,
                align: 16,
                constant: false,
                thread_local: false,
                unnamed: false,
                init: Init::Zero,
                ty: None,
                span: Span::default(),
            });
            GlobalId::new(self.unit.program.globals.len() - 1)
        });
        let nowhere = self.constant(Const::Addr { symbol: Symbol::Global(id), addend: 0 });
        Ok(self.select(Ty::Ptr, on, place, nowhere))
    }

    /// The sign bits of all lanes as one number.
    fn sign_bits(&mut self, v: Value<'m>) -> Lowered<Opnd> {
        let types = self.leaf_types(v)?;
        let mut whole = self.int(32, 0);
        for ((ty, lane), i) in types.iter().zip(self.operands(v)?).zip(0u64..) {
            let width = self.bits(*ty);
            let amount = self.int(width, u64::from(width) - 1);
            let sign = self.bin(BinOp::LShr, width, lane, amount);
            let op = if width < 32 { CastOp::ZExt } else { CastOp::Trunc };
            let sign = if width == 32 { sign } else { self.cast(op, Ty::Int(width), Ty::Int(32), sign) };
            let amount = self.int(32, i);
            let placed = self.bin(BinOp::Shl, 32, sign, amount);
            whole = self.bin(BinOp::Or, 32, whole, placed);
        }
        Ok(whole)
    }
}
