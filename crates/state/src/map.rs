//! Persistent maps with the hasher and the pointers we want: states stay in one thread.

use imbl::shared_ptr::RcK;

pub type HashMap<K, V> = imbl::GenericHashMap<K, V, rustc_hash::FxBuildHasher, RcK>;
pub type OrdMap<K, V> = imbl::GenericOrdMap<K, V, RcK>;
