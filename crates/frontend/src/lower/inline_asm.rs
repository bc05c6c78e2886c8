//! Inline assembly: empty texts only order memory or pass values through; anything else ends the path.

use super::Unsupported;
use super::emit::{Leaves, Lowered, Lowering};
use crate::llvm::{Inst, Value};

impl<'m> Lowering<'_, 'm> {
    pub fn inline_asm(&mut self, inst: Inst<'m>, asm: Value<'m>) -> Lowered<Leaves> {
        let (text, constraints) = asm.asm_text().unwrap_or_default();
        let refuse = || Unsupported::new(format!("inline assembly \"{}\"", text.trim()));
        if !text.trim().is_empty() {
            return Err(refuse());
        }
        let Some(sources) = passed_through(&constraints) else { return Err(refuse()) };
        let args = inst.call_args();
        let mut out = Leaves::new();
        for source in sources {
            out.extend(self.operands(*args.get(source).ok_or_else(refuse)?)?);
        }
        if out.len() == self.leaf_types(inst.value())?.len() { Ok(out) } else { Err(refuse()) }
    }
}

/// For each output the input tied to it; `None` if an output comes from nowhere.
fn passed_through(constraints: &str) -> Option<Vec<usize>> {
    let mut outputs = 0;
    let mut inputs = Vec::new();
    for c in constraints.split(',').filter(|c| !c.is_empty()) {
        if c.starts_with('~') {
            continue;
        } else if let Some(output) = c.strip_prefix('=') {
            // An output by address takes an argument and leaves what is there; the text that would write is empty.
            if output.contains('*') { inputs.push("") } else { outputs += 1 }
        } else {
            inputs.push(c);
        }
    }
    (0..outputs).map(|o: usize| inputs.iter().position(|i| *i == o.to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::passed_through;

    #[test]
    fn tied_operands_pass_through() {
        assert_eq!(passed_through("~{memory},~{flags}"), Some(vec![]));
        assert_eq!(passed_through("=r,0,~{flags}"), Some(vec![0]));
        assert_eq!(passed_through("=r,=r,r,1,0"), Some(vec![2, 1]));
        assert_eq!(passed_through("=r,r"), None);
    }
}
