//! Source-level types from debug information.

use crate::llvm::{Meta, Module, Value};
use pleach_ir::TypeId;
use pleach_ir::types::{DebugType, Encoding, Member};
use rustc_hash::FxHashMap;

/// DWARF tags of types.
mod tag {
    pub const ARRAY: u16 = 0x01;
    pub const CLASS: u16 = 0x02;
    pub const ENUMERATION: u16 = 0x04;
    pub const MEMBER: u16 = 0x0d;
    pub const POINTER: u16 = 0x0f;
    pub const REFERENCE: u16 = 0x10;
    pub const STRUCTURE: u16 = 0x13;
    pub const SUBROUTINE: u16 = 0x15;
    pub const TYPEDEF: u16 = 0x16;
    pub const UNION: u16 = 0x17;
    pub const CONST: u16 = 0x26;
    pub const VOLATILE: u16 = 0x35;
    pub const RESTRICT: u16 = 0x37;
    pub const ATOMIC: u16 = 0x47;
}

pub(crate) struct TypeTable<'m> {
    module: &'m Module<'m>,
    types: Vec<DebugType>,
    known: FxHashMap<Meta<'m>, Option<TypeId>>,
    /// nodes with a number that only their text shows: which type it belongs to, and which variant of it
    unread: Vec<(Meta<'m>, TypeId, Option<usize>)>,
}

impl<'m> TypeTable<'m> {
    pub fn new(module: &'m Module<'m>) -> TypeTable<'m> {
        TypeTable { module, types: Vec::new(), known: FxHashMap::default(), unread: Vec::new() }
    }

    /// The id of a type; `None` for `void` and what is not a type.
    pub fn id(&mut self, node: Meta<'m>) -> Option<TypeId> {
        if let Some(id) = self.known.get(&node) {
            return *id;
        }
        if !node.is_type() {
            return None;
        }
        if matches!(node.tag(), tag::CONST | tag::VOLATILE | tag::RESTRICT | tag::ATOMIC) {
            let id = self.operand(node, 3).and_then(|base| self.id(base));
            self.known.insert(node, id);
            return id;
        }
        // The id exists before the type is read: types refer to themselves through pointers.
        let id = TypeId::new(self.types.len());
        self.types.push(DebugType::Unknown { size: node.type_bits() / 8 });
        self.known.insert(node, Some(id));
        let ty = self.read(node, id);
        self.types[id.index()] = ty;
        Some(id)
    }

    fn operand(&self, node: Meta<'m>, i: usize) -> Option<Meta<'m>> {
        node.operands(self.module).get(i).copied().flatten().and_then(Value::as_meta)
    }

    /// `DIType`: file, scope, name, base type; composite types: elements.
    fn read(&mut self, node: Meta<'m>, id: TypeId) -> DebugType {
        let size = node.type_bits() / 8;
        let name = node.type_name();
        if node.is_basic_type() {
            self.unread.push((node, id, None));
            return DebugType::Base { name, bits: node.type_bits() as u32, encoding: Encoding::Signed };
        }
        match node.tag() {
            tag::POINTER | tag::REFERENCE => {
                DebugType::Pointer { to: self.operand(node, 3).and_then(|base| self.id(base)) }
            }
            tag::TYPEDEF => DebugType::Named { name, of: self.operand(node, 3).and_then(|base| self.id(base)) },
            tag::STRUCTURE | tag::CLASS => DebugType::Struct { name, size, members: self.members(node) },
            tag::UNION => DebugType::Union { name, size, members: self.members(node) },
            tag::ENUMERATION => self.enumeration(node, id, name),
            tag::ARRAY => self.array(node),
            tag::SUBROUTINE => self.subroutine(node),
            _ => DebugType::Unknown { size },
        }
    }

    fn elements(&self, node: Meta<'m>) -> Vec<Meta<'m>> {
        let Some(list) = self.operand(node, 4) else { return Vec::new() };
        list.operands(self.module).into_iter().flatten().filter_map(Value::as_meta).collect()
    }

    fn members(&mut self, node: Meta<'m>) -> Vec<Member> {
        let fields = self.elements(node);
        let mut members = Vec::new();
        for field in fields.into_iter().filter(|f| f.tag() == tag::MEMBER) {
            let Some(ty) = self.operand(field, 3).and_then(|t| self.id(t)) else { continue };
            let bit = field.type_offset_bits();
            let bits = field.is_bit_field().then(|| (bit, field.type_bits() as u32));
            members.push(Member { name: field.type_name(), offset: bit / 8, bits, ty });
        }
        members
    }

    /// The types of the result and of the parameters; the last one of variable arguments is null.
    fn subroutine(&mut self, node: Meta<'m>) -> DebugType {
        let types = self.operand(node, 3).map(|list| list.operands(self.module)).unwrap_or_default();
        let mut ids = types.into_iter().map(|t| t.and_then(Value::as_meta).and_then(|t| self.id(t)));
        let result = ids.next().flatten();
        DebugType::Function { result, parameters: ids.flatten().collect() }
    }

    fn enumeration(&mut self, node: Meta<'m>, id: TypeId, name: String) -> DebugType {
        let mut variants = Vec::new();
        for e in self.elements(node).into_iter().filter(|e| e.is_enumerator()) {
            let name = e.operands(self.module).first().copied().flatten().and_then(Value::meta_string);
            self.unread.push((e, id, Some(variants.len())));
            variants.push((name.unwrap_or_default(), 0));
        }
        let base = self.operand(node, 3).map(Meta::type_name).unwrap_or_default();
        let signed = !base.contains("unsigned");
        DebugType::Enum { name, bits: node.type_bits() as u32, signed, variants }
    }

    /// One node stands for all dimensions; ours nest.
    fn array(&mut self, node: Meta<'m>) -> DebugType {
        let Some(element) = self.operand(node, 3).and_then(|t| self.id(t)) else {
            return DebugType::Unknown { size: node.type_bits() / 8 };
        };
        let mut counts: Vec<u64> = Vec::new();
        for range in self.elements(node).into_iter().filter(|e| e.is_subrange()) {
            let count = range.operands(self.module).first().copied().flatten().and_then(Value::as_i64);
            counts.push(count.and_then(|n| u64::try_from(n).ok()).unwrap_or(0));
        }
        let Some((outer, inner)) = counts.split_first() else {
            return DebugType::Array { element, count: 0 };
        };
        let mut element = element;
        for count in inner.iter().rev() {
            self.types.push(DebugType::Array { element, count: *count });
            element = TypeId::new(self.types.len() - 1);
        }
        DebugType::Array { element, count: *outer }
    }

    /// Reads what is left and gives the table away.
    pub fn finish(&mut self) -> Vec<DebugType> {
        let unread = std::mem::take(&mut self.unread);
        if !unread.is_empty() {
            let text = self.module.print_nodes(unread.iter().map(|(node, ..)| *node));
            for (line, (_, id, variant)) in lines_in_order(&text).into_iter().zip(&unread) {
                self.amend(*id, *variant, line);
            }
        }
        std::mem::take(&mut self.types)
    }

    fn amend(&mut self, id: TypeId, variant: Option<usize>, line: &str) {
        match (&mut self.types[id.index()], variant) {
            (DebugType::Base { encoding, .. }, None) => *encoding = encoding_of(line),
            (DebugType::Enum { variants, .. }, Some(i)) => {
                if let (Some((_, value)), Some(text)) = (variants.get_mut(i), after(line, "value: ")) {
                    *value = text.parse::<i128>().unwrap_or(0) as i64;
                }
            }
            _ => {}
        }
    }
}

/// The text of each node in the list `!n = !{!0, !1}`, in the list's order.
fn lines_in_order(text: &str) -> Vec<&str> {
    let mut by_number: FxHashMap<&str, &str> = FxHashMap::default();
    let mut order: Vec<&str> = Vec::new();
    for line in text.lines() {
        if let Some(list) = line.strip_prefix("!n = !{") {
            order = list.trim_end_matches('}').split(", ").collect();
        } else if let Some((number, node)) = line.split_once(" = ").filter(|(n, _)| n.starts_with('!')) {
            by_number.insert(number, node);
        }
    }
    order.into_iter().map(|n| by_number.get(n).copied().unwrap_or("")).collect()
}

/// The word after the last `key` (names come first and may contain anything).
fn after<'t>(line: &'t str, key: &str) -> Option<&'t str> {
    let start = line.rfind(key)? + key.len();
    line[start..].split([',', ')']).next()
}

fn encoding_of(line: &str) -> Encoding {
    match after(line, "encoding: ") {
        Some("DW_ATE_unsigned") => Encoding::Unsigned,
        Some("DW_ATE_signed_char") => Encoding::SignedChar,
        Some("DW_ATE_unsigned_char" | "DW_ATE_UTF") => Encoding::UnsignedChar,
        Some("DW_ATE_boolean") => Encoding::Bool,
        Some("DW_ATE_float" | "DW_ATE_complex_float") => Encoding::Float,
        _ => Encoding::Signed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_from_the_text_of_nodes() {
        let text = "!n = !{!1, !0}\n\n!0 = !DIEnumerator(name: \"value: 3\", value: -7)\n\
                    !1 = !DIBasicType(name: \"char\", size: 8, encoding: DW_ATE_signed_char)\n";
        let lines = lines_in_order(text);
        assert_eq!(encoding_of(lines[0]), Encoding::SignedChar);
        assert_eq!(after(lines[1], "value: "), Some("-7"));
    }
}
