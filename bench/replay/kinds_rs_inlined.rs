// SPDX-License-Identifier: GPL-3.0-or-later
// kinds.c in Rust, its functions inlined in their callers.
macro_rules! kind {
    ($($function:tt)*) => { #[inline(always)] $($function)* };
}

include!("kinds_shared.rs");
