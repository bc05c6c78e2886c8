//! The input of the entry that a model describes: its parameters, and the objects that they lead to.

use crate::graph::FrameId;
use crate::layout::AtomKind;
use crate::pointers::{Group, GroupId};
use crate::search::Search;
use crate::stream;
use crate::transfer::Translator;
use crate::types::{self, Leaf, LeafKind};
use crate::variables::{Var, symbol};
use pleach_expr::{SymbolKind, TermId, Terms, sign_extend};
use pleach_ir::{Ty, TypeId};
use pleach_smt::{Satisfiability, SmtError};
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
    /// a function of this type, by its number
    Callback(TypeId, u32),
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
    /// what the program takes while it runs
    pub stream: Vec<u8>,
}

/// Bytes of a stream that are read from a model; what is taken beyond is 0.
const MAX_STREAM: u64 = 1024;

impl InputHeap {
    /// The input of a satisfiable query.
    ///
    /// If arrays are equated, a library need not have a value for a cell that the query does not mention. So what was
    /// read at once from the model is then checked by one query. If it does not hold, values are read in rounds, each
    /// of which adds what was read to the query.
    pub(crate) fn read(search: &mut Search, query: &[TermId]) -> Result<InputHeap, SmtError> {
        let mut reader = Reader::new(search, query, Reading::AtOnce);
        let heap = reader.whole()?;
        let all = reader.query;
        if !search.equates_arrays || search.check(&all) == Satisfiability::Sat {
            return Ok(heap);
        }
        Reader::new(search, query, Reading::InRounds).whole()
    }
}

/// How values are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// all from one model
    AtOnce,
    /// a query for each round
    InRounds,
}

/// A scalar of an object and the terms of its parts, lowest first.
struct Wanted {
    element: u64,
    leaf: Leaf,
    parts: Vec<(TermId, u64)>,
    is_pointer: bool,
}

struct Reader<'s, 'a> {
    search: &'s mut Search<'a>,
    /// with all that was read
    query: Vec<TermId>,
    ids: BTreeMap<i64, ObjectId>,
    /// functions of the input
    callbacks: BTreeMap<(i64, TypeId), u32>,
    /// objects whose contents were not read, in the order of their numbers
    todo: Vec<(i64, GroupId)>,
    read: u32,
    how: Reading,
}

impl<'s, 'a> Reader<'s, 'a> {
    fn new(search: &'s mut Search<'a>, query: &[TermId], how: Reading) -> Reader<'s, 'a> {
        Reader {
            search,
            query: query.to_vec(),
            ids: BTreeMap::new(),
            callbacks: BTreeMap::new(),
            todo: Vec::new(),
            read: 0,
            how,
        }
    }

    fn whole(&mut self) -> Result<InputHeap, SmtError> {
        let program = self.search.translator.program;
        let f = self.search.translator.graph.function(program, FrameId::ENTRY);
        let mut heap = InputHeap::default();
        let wanted: Vec<TermId> = f.params.iter().map(|p| self.parameter(p.slot, p.ty)).collect();
        let values = self.values(&wanted)?;
        for (i, (p, v)) in f.params.iter().zip(values).enumerate() {
            let to =
                p.debug_type.map(|t| types::resolve(program, t)).and_then(|t| types::pointee(program, t)).flatten();
            let value = if p.ty == Ty::Ptr { self.refer(v, to) } else { InputValue::Number(v) };
            let name = p.name.clone().unwrap_or_else(|| format!("p{i}"));
            heap.parameters.push(Parameter { name, ty: p.ty, debug_type: p.debug_type, value });
        }
        let taken = stream::longest(program, self.search.translator.graph).min(MAX_STREAM);
        if taken > 0 {
            let wanted: Vec<TermId> = (0..taken).map(|i| self.search.translator.stream_byte(i)).collect();
            heap.stream = self.values(&wanted)?.into_iter().map(|v| v as u8).collect();
        }
        while !self.todo.is_empty() {
            let round = std::mem::take(&mut self.todo);
            for object in self.objects(&round)? {
                heap.objects.push(object);
            }
        }
        Ok(heap)
    }

    fn parameter(&mut self, slot: pleach_ir::Slot, ty: Ty) -> TermId {
        let tr = &mut self.search.translator;
        let (var, kind) = match ty {
            Ty::Ptr => (Var::Ref(FrameId::ENTRY, slot), SymbolKind::Bits(tr.layout.ref_bits)),
            ty => (Var::Slot(FrameId::ENTRY, slot), SymbolKind::Bits(tr.program.target.bits(ty))),
        };
        let id = tr.variables.id(var, kind);
        tr.variables.input(tr.terms, id)
    }

    /// Values of these terms that hold together with all that was read before, if it is read in rounds.
    fn values(&mut self, wanted: &[TermId]) -> Result<Vec<u64>, SmtError> {
        let values = match self.how {
            Reading::AtOnce => {
                let (session, terms) = (&mut self.search.session, &*self.search.translator.terms);
                wanted.iter().map(|t| session.value(terms, *t)).collect::<Result<Vec<u64>, SmtError>>()?
            }
            Reading::InRounds => self.next_round(wanted)?,
        };
        for (&t, &v) in wanted.iter().zip(&values) {
            let terms = &mut *self.search.translator.terms;
            let v = terms.constant(terms.width(t), v);
            self.query.push(terms.eq(t, v));
        }
        self.query.retain(|t| *t != Terms::TRUE);
        Ok(values)
    }

    fn next_round(&mut self, wanted: &[TermId]) -> Result<Vec<u64>, SmtError> {
        let mut names = Vec::new();
        let mut query = self.query.clone();
        for &t in wanted {
            self.read += 1;
            let terms = &mut *self.search.translator.terms;
            let kind = SymbolKind::Bits(terms.width(t));
            let name = symbol(terms, &format!("read{}", self.read), kind);
            query.push(terms.eq(t, name));
            names.push(name);
        }
        match self.search.check(&query) {
            Satisfiability::Sat => {}
            other => return Err(SmtError::Unsupported(format!("no second model of the input: {other:?}"))),
        }
        names.iter().map(|&name| self.search.session.value(self.search.translator.terms, name)).collect()
    }

    /// A pointer to this type. What is no such pointer was not constrained by the query: nothing depends on it.
    fn refer(&mut self, v: u64, to: Option<TypeId>) -> InputValue {
        let pool = self.search.translator.pointers.pool(to);
        let layout = &self.search.translator.layout;
        let reference = sign_extend(v, layout.ref_bits);
        let within = |r: &(i64, i64)| r.0 <= reference && reference <= r.1;
        let Some(g) = layout.ranges.iter().position(within).filter(|g| *g == pool.index()) else {
            return InputValue::Null;
        };
        match self.search.translator.pointers.groups[g] {
            Group::Pool { ty: Some(_), .. } => {}
            Group::Pool { ty: None, .. } => {
                let Some(to) = to.filter(|t| types::signature(self.search.translator.program, *t).is_some()) else {
                    return InputValue::Opaque;
                };
                let next = self.callbacks.len() as u32;
                return InputValue::Callback(to, *self.callbacks.entry((reference, to)).or_insert(next));
            }
            _ => return InputValue::Null,
        }
        let next = ObjectId(self.ids.len() as u32);
        let id = *self.ids.entry(reference).or_insert(next);
        if id == next {
            self.todo.push((reference, GroupId(g as u32)));
        }
        InputValue::Object(id)
    }

    fn objects(&mut self, round: &[(i64, GroupId)]) -> Result<Vec<Object>, SmtError> {
        let mut shapes = Vec::new();
        let mut terms = Vec::new();
        for &(reference, group) in round {
            let (object, wanted) = self.shape(reference, group)?;
            terms.extend(wanted.iter().flat_map(|w| w.parts.iter().map(|p| p.0)));
            shapes.push((object, wanted));
        }
        let values = self.values(&terms)?;
        let known: FxHashMap<TermId, u64> = terms.into_iter().zip(values).collect();
        let mut out = Vec::new();
        for (mut object, wanted) in shapes {
            for w in wanted {
                let v = w.parts.iter().fold(0, |v, (t, by)| v | known[t] << (8 * by));
                let value = match (w.is_pointer, w.leaf.kind) {
                    (true, LeafKind::Pointer(to)) => self.refer(v, to),
                    (true, _) | (false, LeafKind::Pointer(_)) => InputValue::Null,
                    (false, _) => InputValue::Number(v),
                };
                object.fields.push(Field { element: w.element, leaf: w.leaf, value });
            }
            out.push(object);
        }
        Ok(out)
    }

    /// An object without values, and the scalars of it that the program accesses.
    fn shape(&mut self, reference: i64, group: GroupId) -> Result<(Object, Vec<Wanted>), SmtError> {
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
        let mut wanted = Vec::new();
        for element in 0..count {
            for leaf in &leaves {
                wanted.extend(self.scalar(reference, group, element, size, leaf));
            }
        }
        Ok((Object { ty, count, fields: Vec::new(), raw }, wanted))
    }

    fn scalar(&mut self, reference: i64, group: GroupId, element: u64, size: u64, leaf: &Leaf) -> Option<Wanted> {
        let tr = &mut self.search.translator;
        let region = tr.layout.regions[tr.layout.region(group)].clone();
        let at = element * size + leaf.offset;
        let cover = Translator::cover_known(&region, at, leaf.bytes)?;
        let mut wanted = Wanted { element, leaf: leaf.clone(), parts: Vec::new(), is_pointer: false };
        for (atom, by) in cover {
            let i = tr.cell_of(&region, reference, at + by);
            let array = match atom.kind {
                AtomKind::Bits { array } => array,
                AtomKind::Pointer { array, .. } => {
                    wanted.is_pointer = true;
                    array
                }
            };
            let input = tr.input_array(array);
            wanted.parts.push((tr.terms.read(input, i), by));
        }
        Some(wanted)
    }
}
