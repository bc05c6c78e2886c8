//! Dense ids. Everything in a program is named by its index in one arena.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize)]
        pub struct $name(pub u32);
        impl $name {
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
            pub fn new(index: usize) -> Self {
                $name(u32::try_from(index).expect("arena index fits in 32 bits"))
            }
        }
    };
}

id!(/// A function of the program, defined or only declared.
    FuncId);
id!(/// A global variable.
    GlobalId);
id!(/// A basic block within its function.
    BlockId);
id!(/// A register slot within a frame of its function.
    Slot);
id!(/// An instruction within its function (`Function::insts`).
    InstId);
id!(/// A source file.
    FileId);
id!(/// A source-level type (`types::DebugType`).
    TypeId);
