//! The soundness campaign of the pruning: random programs, explored with and without it in one process.
//!
//! *Law*: whatever the mode and the search order, a complete run finds the same errors (kind and place) and reaches the
//! same blocks. Programs are compiled many at a time, each with an entry of its own, because compiling costs more than
//! exploring.
//!
//! A program is a function of its seed:
//!
//! ```
//! use pleach_campaign::generate;
//!
//! assert_eq!(generate::program(7), generate::program(7));
//! assert!(generate::standalone(7).contains("s7_main()"));
//! ```

pub mod backward;
pub mod batch;
pub mod compare;
pub mod endless;
pub mod engine;
pub mod generate;
pub mod recursive;
pub mod reduce;
