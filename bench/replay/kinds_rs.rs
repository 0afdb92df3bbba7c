// SPDX-License-Identifier: GPL-3.0-or-later
// kinds.c in Rust, its functions not inlined.
macro_rules! kind {
    ($($function:tt)*) => { #[inline(never)] $($function)* };
}

include!("kinds_shared.rs");
