//! The program with recursive calls replaced by contracts.
//!
//! *Idea*: each recursive function gets a *stub*, which all calls go to, and a *driver*, which calls its body from any
//! state that the contract allows. *Invariant*: what a call may do is among what its stub may do, if all checks hold:
//! the stub forgets every global variable that the call may change, and assumes only what the driver checks.

use crate::Contract;
use crate::build::FunctionBuilder;
use crate::claim::Variable;
use crate::fragment::{Fragment, RecursiveFunction};
use pleach_ir::{Callee, FuncId, Function, Inst, Opnd, Param, Program, Slot, SlotInfo, Ty};
use std::collections::BTreeMap;

/// The function whose call says that a claim does not hold.
pub const ERROR: &str = "__pleach_contract_error";

/// A claim that is checked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Check {
    /// of the contract with this number: the claim with that number
    Requires(usize, usize),
    Ensures(usize, usize),
}

/// A program whose recursive calls are contracts.
pub struct Abstracted {
    pub program: Program,
    /// the names of the drivers
    pub drivers: Vec<String>,
    /// by function and instruction of the call of [`Abstracted::error_function`]
    pub checks: BTreeMap<(u32, u32), Check>,
}

impl Abstracted {
    /// Its call is an error.
    pub fn error_function(&self) -> &'static str {
        ERROR
    }
}

pub(crate) fn abstracted(program: &Program, fragment: &Fragment, contracts: &[Contract]) -> Result<Abstracted, String> {
    let mut made = Making { program: program.clone(), checks: BTreeMap::new() };
    let error = made.declared(ERROR, &[], None)?;
    let assume = made.declared("__VERIFIER_assume", &[Ty::Int(32)], None)?;
    let mut stubs: BTreeMap<FuncId, FuncId> = BTreeMap::new();
    for (n, (f, c)) in fragment.functions.iter().zip(contracts).enumerate() {
        let stub = made.stub(n, f, c, error, assume)?;
        stubs.insert(f.id, stub);
    }
    for f in &mut made.program.functions {
        for inst in &mut f.insts {
            if let Inst::Call { callee: Callee::Direct(g), .. } = inst
                && let Some(stub) = stubs.get(g)
            {
                *g = *stub;
            }
        }
    }
    let mut drivers = Vec::new();
    for (n, (f, c)) in fragment.functions.iter().zip(contracts).enumerate() {
        drivers.push(made.driver(n, f, c, error, assume)?);
    }
    debug_assert_eq!(pleach_ir::verify::verify(&made.program), Ok(()));
    Ok(Abstracted { program: made.program, drivers, checks: made.checks })
}

struct Making {
    program: Program,
    checks: BTreeMap<(u32, u32), Check>,
}

/// Names of inputs by bits; the program may have given one of them a body.
const INPUTS: &[(u16, &[&str])] = &[
    (1, &["bool", "_Bool"]),
    (8, &["uchar", "u8", "uint8_t"]),
    (16, &["ushort", "u16", "uint16_t"]),
    (32, &["uint", "u32", "uint32_t"]),
    (64, &["ulonglong", "u64", "uint64_t"]),
];

impl Making {
    /// A function that the program declares, or does from now on.
    fn declared(&mut self, name: &str, params: &[Ty], result: Option<Ty>) -> Result<FuncId, String> {
        let fits = |f: &Function| {
            let same = f.params.iter().map(|p| p.ty).eq(params.iter().copied()) || f.variadic;
            f.is_declaration() && same && f.results.iter().copied().eq(result)
        };
        match self.program.function_named(name) {
            Some(id) if fits(self.program.function(id)) => Ok(id),
            Some(_) => Err(format!("the program has a `{name}` of its own")),
            None => {
                let param = |(i, ty): (usize, &Ty)| Param {
                    slot: Slot::new(i),
                    ty: *ty,
                    byval: None,
                    name: None,
                    debug_type: None,
                };
                Ok(self.program.add_function(Function {
                    name: name.to_owned(),
                    params: params.iter().enumerate().map(param).collect(),
                    results: result.into_iter().collect(),
                    ..Function::default()
                }))
            }
        }
    }

    fn input(&mut self, width: u16) -> Result<FuncId, String> {
        let names = INPUTS.iter().find(|i| i.0 == width).map_or(&[][..], |i| i.1);
        let mut why = format!("inputs of {width} bits");
        for name in names {
            match self.declared(&format!("__VERIFIER_nondet_{name}"), &[], Some(Ty::Int(width))) {
                Ok(id) => return Ok(id),
                Err(other) => why = other,
            }
        }
        Err(why)
    }

    /// Any number.
    fn any(&mut self, b: &mut FunctionBuilder, width: u16) -> Result<Opnd, String> {
        let input = self.input(width)?;
        let dst = b.slot(Ty::Int(width));
        b.call(input, &[], Some(dst));
        Ok(Opnd::slot(dst))
    }

    /// Checks what is required, forgets what the call may change, assumes what is ensured.
    fn stub(
        &mut self,
        n: usize,
        f: &RecursiveFunction,
        c: &Contract,
        error: FuncId,
        assume: FuncId,
    ) -> Result<FuncId, String> {
        let of = self.program.function(f.id);
        let name = format!("{}.contract", of.name);
        let params: Vec<Param> =
            of.params.iter().enumerate().map(|(i, p)| Param { slot: Slot::new(i), ..p.clone() }).collect();
        let slots = params.iter().map(|p| SlotInfo { ty: p.ty, name: p.name.clone(), debug_type: p.debug_type });
        let (results, span) = (of.results.clone(), of.span);
        let slots = slots.collect();
        self.declare_inputs(f)?;
        let id = FuncId::new(self.program.functions.len());
        let mut b = FunctionBuilder::new(Function { name, params, slots, results, span, ..Function::default() });
        let before: BTreeMap<_, _> = f.touched.iter().map(|(g, w)| (*g, b.load(*g, *w))).collect();
        let given = |v: Variable| match v {
            Variable::Argument(i) => Some(Opnd::slot(Slot::new(i))),
            Variable::Before(g) => before.get(&g).copied(),
            Variable::Result | Variable::After(_) => None,
        };
        for (k, claim) in c.requires.iter().enumerate() {
            let cond = b.claim(claim, &given).ok_or("a claim about something unknown")?;
            let at = b.check(cond, error);
            self.checks.insert((id.0, at.0), Check::Requires(n, k));
        }
        let mut after = BTreeMap::new();
        for g in &f.changed {
            let v = self.any(&mut b, f.touched[g])?;
            b.store(*g, f.touched[g], v);
            after.insert(*g, v);
        }
        let result = f.result.map(|w| self.any(&mut b, w)).transpose()?;
        let known = |v: Variable| match v {
            Variable::Result => result,
            Variable::After(g) => after.get(&g).copied(),
            other => given(other),
        };
        let mut all = Vec::new();
        for claim in &c.ensures {
            all.push(b.claim(claim, &known).ok_or("a claim about something unknown")?);
        }
        let truth = b.truth(&all);
        b.call(assume, &[(truth, Ty::Int(32))], None);
        let values: Vec<(Opnd, Ty)> = result.into_iter().zip(f.result.map(Ty::Int)).collect();
        b.give_back(&values);
        let made = self.program.add_function(b.finish());
        if made == id { Ok(made) } else { Err("a function got another number".into()) }
    }

    /// Inputs get their numbers before the function that calls them.
    fn declare_inputs(&mut self, f: &RecursiveFunction) -> Result<(), String> {
        f.touched.values().chain(&f.arguments).chain(&f.result).try_for_each(|w| self.input(*w).map(drop))
    }

    /// Calls the body from any state that the contract allows, and checks what is ensured.
    fn driver(
        &mut self,
        n: usize,
        f: &RecursiveFunction,
        c: &Contract,
        error: FuncId,
        assume: FuncId,
    ) -> Result<String, String> {
        let of = self.program.function(f.id);
        let (name, span) = (format!("{}.body", of.name), of.span);
        let mut b = FunctionBuilder::new(Function { name: name.clone(), span, ..Function::default() });
        self.declare_inputs(f)?;
        let id = FuncId::new(self.program.functions.len());
        let mut before = BTreeMap::new();
        for (g, w) in &f.touched {
            if self.program.global(*g).constant {
                before.insert(*g, b.load(*g, *w));
                continue;
            }
            let v = self.any(&mut b, *w)?;
            b.store(*g, *w, v);
            before.insert(*g, v);
        }
        let mut arguments = Vec::new();
        for w in &f.arguments {
            arguments.push((self.any(&mut b, *w)?, Ty::Int(*w)));
        }
        let given = |v: Variable| match v {
            Variable::Argument(i) => arguments.get(i).map(|a| a.0),
            Variable::Before(g) => before.get(&g).copied(),
            Variable::Result | Variable::After(_) => None,
        };
        let mut all = Vec::new();
        for claim in &c.requires {
            all.push(b.claim(claim, &given).ok_or("a claim about something unknown")?);
        }
        let truth = b.truth(&all);
        b.call(assume, &[(truth, Ty::Int(32))], None);
        let result = f.result.map(|w| b.slot(Ty::Int(w)));
        b.call(f.id, &arguments, result);
        let after: BTreeMap<_, _> = f.changed.iter().map(|g| (*g, b.load(*g, f.touched[g]))).collect();
        let known = |v: Variable| match v {
            Variable::Result => result.map(Opnd::slot),
            Variable::After(g) => after.get(&g).copied(),
            other => given(other),
        };
        for (k, claim) in c.ensures.iter().enumerate() {
            let cond = b.claim(claim, &known).ok_or("a claim about something unknown")?;
            let at = b.check(cond, error);
            self.checks.insert((id.0, at.0), Check::Ensures(n, k));
        }
        b.give_back(&[]);
        let made = self.program.add_function(b.finish());
        if made == id { Ok(name) } else { Err("a function got another number".into()) }
    }
}
