//! Native calls of external functions: the program starts itself once more for each.

use pleach_exec::{External, NativeAnswer, NativeCall, NativeCalls};
use pleach_replay::foreign;

struct Foreign(foreign::Caller);

/// Who makes them, if they are wanted.
pub fn calls(external: External) -> Option<Box<dyn NativeCalls>> {
    let program = std::env::current_exe().ok().filter(|_| external == External::Concrete)?;
    Some(Box::new(Foreign(foreign::Caller::new(&program).ok()?)))
}

impl NativeCalls for Foreign {
    fn call(&mut self, call: &NativeCall) -> Result<NativeAnswer, String> {
        let request = foreign::Request {
            name: call.name.to_owned(),
            args: call.args.clone(),
            float: call.result == Some(true),
            memory: call.memory.clone(),
        };
        let answer = self.0.call(&request)?;
        Ok(NativeAnswer { result: answer.result, memory: answer.memory })
    }
}
