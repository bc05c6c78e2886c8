//! Source spans, variables and labels from debug information.

use super::debug_types::TypeTable;
use crate::llvm::{Function, Inst, Meta, Module, Value};
use pleach_ir::{Program, SourceFile, Span, TypeId};
use rustc_hash::FxHashMap;

/// A source variable.
pub(crate) struct Variable {
    pub name: Option<String>,
    pub ty: Option<TypeId>,
}

/// What has been read of the debug information so far.
pub(crate) struct DebugInfo<'m> {
    module: &'m Module<'m>,
    files: Vec<SourceFile>,
    by_path: FxHashMap<String, u32>,
    by_scope: FxHashMap<Meta<'m>, Option<u32>>,
    types: TypeTable<'m>,
}

impl<'m> DebugInfo<'m> {
    pub fn new(module: &'m Module<'m>) -> DebugInfo<'m> {
        DebugInfo {
            module,
            files: Vec::new(),
            by_path: FxHashMap::default(),
            by_scope: FxHashMap::default(),
            types: TypeTable::new(module),
        }
    }

    /// Where an instruction comes from, if that is known.
    pub fn span(&mut self, inst: Inst<'m>) -> Option<Span> {
        let mut location = inst.location()?;
        let (line, column, file) = loop {
            let (line, column, scope) = location.location()?;
            let file = self.file_of(scope?)?;
            // Code of Rust's libraries counts where it was inlined.
            if !crate::rust::is_library_file(&self.files[file as usize].path) {
                break (line, column, file);
            }
            location = location.inlined_at()?;
        };
        (line != 0).then_some(Span { file, line, column })
    }

    pub fn path(&self, file: u32) -> String {
        self.files.get(file as usize).map(|f| f.path.clone()).unwrap_or_default()
    }

    pub fn function_span(&mut self, f: Function<'m>) -> Span {
        f.subprogram().and_then(|s| self.declared_at(s)).unwrap_or_default()
    }

    fn declared_at(&mut self, node: Meta<'m>) -> Option<Span> {
        let line = node.line();
        let file = self.file_of(node).filter(|f| !crate::rust::is_library_file(&self.files[*f as usize].path))?;
        (line != 0).then_some(Span { file, line, column: 0 })
    }

    fn file_of(&mut self, scope: Meta<'m>) -> Option<u32> {
        if let Some(known) = self.by_scope.get(&scope) {
            return *known;
        }
        let path = scope.file().and_then(Meta::file_path).map(|(directory, name)| {
            if name.starts_with('/') || directory.is_empty() { name } else { format!("{directory}/{name}") }
        });
        let id = path.map(|path| {
            let next = self.files.len() as u32;
            *self.by_path.entry(path).or_insert_with_key(|path| {
                self.files.push(SourceFile { path: path.clone() });
                next
            })
        });
        self.by_scope.insert(scope, id);
        id
    }

    /// The type and place of a global variable.
    pub fn global(&mut self, g: Value<'m>) -> (Option<TypeId>, Span) {
        let Some(node) = g.attached().into_iter().find_map(Meta::global_variable) else {
            return (None, Span::default());
        };
        let span = self.declared_at(node).unwrap_or_default();
        (self.variable(node).and_then(|v| v.ty), span)
    }

    /// `DIVariable`: scope, name, file, type.
    pub fn variable(&mut self, node: Meta<'m>) -> Option<Variable> {
        if !node.is_variable() {
            return None;
        }
        let operands = node.operands(self.module);
        let name = operands.get(1).copied().flatten().and_then(Value::meta_string);
        let ty = operands.get(3).copied().flatten().and_then(Value::as_meta);
        Some(Variable { name, ty: ty.and_then(|t| self.types.id(t)) })
    }

    /// `DILabel`: scope, name, file.
    pub fn label(&self, node: Meta<'m>) -> Option<String> {
        if !node.is_label() {
            return None;
        }
        node.operands(self.module).get(1).copied().flatten().and_then(Value::meta_string)
    }

    /// Puts files and types into the program.
    pub fn hand_over(&mut self, program: &mut Program) {
        program.files = std::mem::take(&mut self.files);
        program.types = self.types.finish();
    }
}
