//! The input of the entry that a model describes: its parameters, and the objects that they lead to.

use crate::graph::FrameId;
use crate::layout::AtomKind;
use crate::pointers::{Group, GroupId};
use crate::search::Search;
use crate::transfer::Translator;
use crate::types::{self, Leaf, LeafKind};
use crate::variables::{Var, VarId};
use pleach_expr::{SymbolKind, TermId, sign_extend};
use pleach_ir::{Ty, TypeId};
use pleach_smt::SmtError;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// An object of the input heap, by its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ObjectId(pub u32);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InputValue {
    Number(u64),
    Null,
    Object(ObjectId),
    /// not null, to something of unknown type
    Opaque,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Parameter {
    pub name: String,
    pub ty: Ty,
    pub debug_type: Option<TypeId>,
    pub value: InputValue,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Object {
    pub ty: TypeId,
    /// elements of the type
    pub count: u64,
    /// The scalars that the answer depends on, or may: those that the program accesses.
    pub fields: Vec<Field>,
    /// the type has parts that overlap: fields are named by offset only
    pub raw: bool,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Field {
    pub element: u64,
    pub leaf: Leaf,
    pub value: InputValue,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct InputHeap {
    pub parameters: Vec<Parameter>,
    pub objects: Vec<Object>,
}

impl InputHeap {
    pub(crate) fn read(search: &mut Search, current: &FxHashMap<VarId, TermId>) -> Result<InputHeap, SmtError> {
        let program = search.translator.program;
        let f = search.translator.graph.function(program, FrameId::ENTRY);
        let mut reader = Reader { search, current, ids: BTreeMap::new(), todo: Vec::new() };
        let mut heap = InputHeap::default();
        for (i, p) in f.params.iter().enumerate() {
            let value = match p.ty {
                Ty::Ptr => reader.pointer_parameter(p.slot)?,
                ty => {
                    let kind = SymbolKind::Bits(program.target.bits(ty));
                    InputValue::Number(reader.variable(Var::Slot(FrameId::ENTRY, p.slot), kind)?)
                }
            };
            let name = p.name.clone().unwrap_or_else(|| format!("p{i}"));
            heap.parameters.push(Parameter { name, ty: p.ty, debug_type: p.debug_type, value });
        }
        while let Some((reference, group)) = reader.todo.pop() {
            let id = reader.ids[&reference];
            let object = reader.object(reference, group)?;
            let empty = || Object { ty: object.ty, count: 0, fields: Vec::new(), raw: false };
            while heap.objects.len() <= id.0 as usize {
                heap.objects.push(empty());
            }
            heap.objects[id.0 as usize] = object;
        }
        Ok(heap)
    }
}

struct Reader<'s, 'a> {
    search: &'s mut Search<'a>,
    current: &'s FxHashMap<VarId, TermId>,
    ids: BTreeMap<i64, ObjectId>,
    todo: Vec<(i64, GroupId)>,
}

impl Reader<'_, '_> {
    fn variable(&mut self, var: Var, kind: SymbolKind) -> Result<u64, SmtError> {
        let tr = &mut self.search.translator;
        let Some(id) = tr.variables.find(var) else { return Ok(0) };
        let _ = kind;
        let t = match self.current.get(&id) {
            Some(&t) => t,
            None => tr.variables.term(tr.terms, id, 0),
        };
        self.search.session.value(self.search.translator.terms, t)
    }

    fn pointer_parameter(&mut self, slot: pleach_ir::Slot) -> Result<InputValue, SmtError> {
        let bits = self.search.translator.layout.ref_bits;
        let v = self.variable(Var::Ref(FrameId::ENTRY, slot), SymbolKind::Bits(bits))?;
        Ok(self.refer(v))
    }

    fn refer(&mut self, v: u64) -> InputValue {
        let layout = &self.search.translator.layout;
        let reference = sign_extend(v, layout.ref_bits);
        let within = |r: &(i64, i64)| r.0 <= reference && reference <= r.1;
        let Some(g) = layout.ranges.iter().position(within) else { return InputValue::Null };
        let group = GroupId(g as u32);
        match self.search.translator.pointers.groups[g] {
            Group::Pool { ty: Some(_), .. } => {}
            Group::Pool { ty: None, .. } => return InputValue::Opaque,
            _ => return InputValue::Null,
        }
        let next = ObjectId(self.ids.len() as u32);
        let id = *self.ids.entry(reference).or_insert(next);
        if id == next {
            self.todo.push((reference, group));
        }
        InputValue::Object(id)
    }

    fn object(&mut self, reference: i64, group: GroupId) -> Result<Object, SmtError> {
        let program = self.search.translator.program;
        let Group::Pool { ty: Some(ty), count } = self.search.translator.pointers.groups[group.index()] else {
            return Err(SmtError::Bug("an input object without a type".into()));
        };
        let size = types::size(program, ty);
        let known = types::leaves(program, ty);
        let raw = known.is_none();
        let leaves = known.unwrap_or_else(|| {
            let byte = |i| Leaf { offset: i, bytes: 1, kind: LeafKind::Int { signed: false }, path: String::new() };
            (0..size).map(byte).collect()
        });
        let mut fields = Vec::new();
        for element in 0..count {
            for leaf in &leaves {
                let at = element * size + leaf.offset;
                if let Some(value) = self.cell(reference, group, at, leaf)? {
                    fields.push(Field { element, leaf: leaf.clone(), value });
                }
            }
        }
        Ok(Object { ty, count, fields, raw })
    }

    /// The value of a scalar of the input, if the program accesses it.
    fn cell(&mut self, reference: i64, group: GroupId, at: u64, leaf: &Leaf) -> Result<Option<InputValue>, SmtError> {
        let tr = &mut self.search.translator;
        let region = tr.layout.regions[tr.layout.region(group)].clone();
        let Some(cover) = Translator::cover_known(&region, at, leaf.bytes) else { return Ok(None) };
        let mut value = 0u64;
        for (atom, by) in cover {
            let tr = &mut self.search.translator;
            let i = tr.cell_of(&region, reference, at + by);
            let (array, is_pointer) = match atom.kind {
                AtomKind::Bits { array } => (array, false),
                AtomKind::Pointer { array, .. } => (array, true),
            };
            let input = tr.input_array(array);
            let t = tr.terms.read(input, i);
            let v = self.search.session.value(self.search.translator.terms, t)?;
            if is_pointer {
                return Ok(Some(self.refer(v)));
            }
            value |= v << (8 * by);
        }
        Ok(Some(match leaf.kind {
            LeafKind::Pointer(_) => InputValue::Null,
            _ => InputValue::Number(value),
        }))
    }
}
