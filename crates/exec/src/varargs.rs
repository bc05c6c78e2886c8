//! Variable arguments in the layout the target's compiler expects.
//!
//! On x86-64 clang expands `va_arg` into reads of a structure: `{ i32 gp_offset, i32 fp_offset, ptr overflow_area, ptr
//! save_area }`. `va_start` fills it so that every argument lies in the overflow area; on 32-bit targets the list is a
//! plain pointer.

use crate::access::{AccessKind, ResolvedLocation, note};
use crate::flow::{Flow, StepResult};
use crate::machine::Machine;
use crate::overlap::Overlap;
use pleach_ir::{Inst, Ty};
use pleach_memory::{ObjId, ObjectKind, Value};
use pleach_state::trace::Arguments;
use pleach_state::{Access, Cut, ErrorKind, State};

/// Library functions that pass on as many arguments as there may be, given or not.
const GREEDY: [&str; 5] = ["ioctl", "mremap", "prctl", "ptrace", "syscall"];
const REGISTER_ARGUMENTS: u64 = 6;

impl Machine {
    pub(crate) fn varargs(&mut self, consts: &[Value], st: &mut State, inst: &Inst) -> StepResult<()> {
        let pw = self.pointer_bits();
        match *inst {
            Inst::VaStart { list } => {
                let list = self.value(st, consts, list, pw);
                let place = self.place(st, list, if pw == 64 { 24 } else { 4 }, AccessKind::Write)?;
                let (area, args) = self.argument_area(st)?;
                st.frame.locals.push(area);
                let size = st.memory.get(area).map_or(0, |o| o.capacity());
                note(st, || match place {
                    ResolvedLocation::At { obj, off } => Access::VaStart { list: obj, off, area, size, args },
                    ResolvedLocation::Symbolic { .. } | ResolvedLocation::Piece { .. } => Access::Opaque,
                });
                let area = Value::ptr(area, 0);
                if pw == 64 {
                    // Offsets past the register save area: everything is taken from the overflow area.
                    let ResolvedLocation::At { obj, off } = place else {
                        return Err(Flow::cut(Cut::Unsupported("va_start through a symbolic pointer".into())));
                    };
                    let at = |k: u64| ResolvedLocation::At { obj, off: off + k };
                    self.write_place(st, at(0), 4, Value::Int(48));
                    self.write_place(st, at(4), 4, Value::Int(304));
                    self.write_place(st, at(8), 8, area);
                    self.write_place(st, at(16), 8, Value::NULL);
                } else {
                    self.write_place(st, place, 4, area);
                }
                Ok(())
            }
            Inst::VaCopy { dst, src } => {
                let d = self.value(st, consts, dst, pw);
                let s = self.value(st, consts, src, pw);
                let n = if pw == 64 { 24 } else { 4 };
                self.copy_bytes(st, d, s, (Value::Int(n), 64), Overlap::Allowed)
            }
            Inst::VaEnd { .. } => Ok(()),
            Inst::VaArg { ty, dst, list } => {
                let list = self.value(st, consts, list, pw);
                let v = self.next_argument(st, list, ty)?;
                self.set(st, dst, v);
                Ok(())
            }
            _ => unreachable!("dispatched by family"),
        }
    }

    /// Takes the next argument from where `va_start` put it.
    fn next_argument(&mut self, st: &mut State, list: Value, ty: Ty) -> StepResult<Value> {
        let word = self.pointer_bytes();
        let cursor = match (word, list) {
            (8, Value::Ptr { obj, off }) => Value::Ptr { obj, off: off + 8 },
            (4, _) => list,
            _ => return Err(Flow::cut(Cut::Unsupported("va_arg through a symbolic pointer".into()))),
        };
        let cursor = self.place(st, cursor, word, AccessKind::Write)?;
        let Value::Ptr { obj, off } = self.read_place(st, cursor, word) else {
            return Err(Flow::error(ErrorKind::BadCall, "va_arg of a list that was not started"));
        };
        let at = if is_wide(word, ty) { (off as u64).next_multiple_of(16) as i64 } else { off };
        let bytes = u64::from(self.program.target.store_bytes(ty));
        let from = self.place(st, Value::Ptr { obj, off: at }, bytes, AccessKind::Read)?;
        let v = self.read_place(st, from, bytes);
        let after = at + bytes.next_multiple_of(word) as i64;
        self.write_place(st, cursor, word, Value::Ptr { obj, off: after });
        crate::access::note(st, || pleach_state::Access::Opaque);
        Ok(v)
    }

    /// The variable arguments of the top frame, one after the other as the calling convention lays them out in memory.
    /// With the offset and the type of each.
    fn argument_area(&mut self, st: &mut State) -> StepResult<(ObjId, Arguments)> {
        let args = st.frame.varargs.clone();
        let word = self.pointer_bytes();
        let mut offset = 0u64;
        let mut located = Vec::new();
        for &(_, ty) in args.iter() {
            let bytes = u64::from(self.program.target.store_bytes(ty));
            if is_wide(word, ty) {
                offset = offset.next_multiple_of(16);
            }
            located.push((offset, ty));
            offset += bytes.next_multiple_of(word);
        }
        if self.program.library && GREEDY.contains(&self.program.function(st.frame.func).name.as_str()) {
            // Anything may be there.
            offset = offset.max(REGISTER_ARGUMENTS * word);
        }
        let id = self.allocate(st, offset, 16, ObjectKind::Stack)?;
        for (&(off, ty), &(v, _)) in located.iter().zip(args.iter()) {
            let bytes = u64::from(self.program.target.store_bytes(ty));
            self.write_place(st, ResolvedLocation::At { obj: id, off }, bytes, v);
        }
        Ok((id, located.into()))
    }
}

/// Whether an argument begins at a multiple of 16.
fn is_wide(word: u64, ty: Ty) -> bool {
    word == 8 && matches!(ty, Ty::Float(pleach_ir::FloatTy::X87 | pleach_ir::FloatTy::Quad) | Ty::Int(128..))
}
