// SPDX-License-Identifier: GPL-3.0-or-later
// Free of races: core::sync::atomic in all of its orders, and a message
// handed over by a release store and an acquire load.
include!("target.rs");

use std::cell::UnsafeCell;
use std::sync::atomic::{fence, AtomicBool, AtomicI64, AtomicUsize, Ordering::*};

struct Channel {
    full: AtomicBool,
    message: UnsafeCell<[i64; 4]>,
}

// One side at a time has the message, as the flag says.
unsafe impl Sync for Channel {}

static RELAXED: AtomicI64 = AtomicI64::new(0);
static LEVEL: AtomicI64 = AtomicI64::new(0);
static TURN: AtomicUsize = AtomicUsize::new(0);
static CHANNEL: Channel = Channel {
    full: AtomicBool::new(false),
    message: UnsafeCell::new([0; 4]),
};

#[inline(never)]
fn send(n: i64) -> bool {
    if CHANNEL.full.load(Acquire) {
        return false;
    }
    unsafe { *CHANNEL.message.get() = [n, n, n, n] };
    CHANNEL.full.store(true, Release);
    true
}

#[inline(never)]
fn take(n: i64) -> bool {
    if !CHANNEL.full.load(Relaxed) {
        return false;
    }
    fence(Acquire);
    let message = unsafe { *CHANNEL.message.get() };
    assert!(message[0] == n && message[3] == n);
    CHANNEL.full.store(false, Release);
    true
}

#[inline(never)]
fn count(n: i64) {
    RELAXED.fetch_add(1, Relaxed);
    LEVEL.store(n, SeqCst);
    assert!(RELAXED.load(Relaxed) > 0 && LEVEL.load(SeqCst) >= 0);
}

#[inline(never)]
fn turn(me: usize) {
    let _ = TURN.compare_exchange(me, 1 - me, AcqRel, Acquire);
}

fn main() {
    let target = Target::new();
    let work = |me: usize| {
        let (mut i, mut n) = (0, 0);
        while target.goes_on(i) {
            n += (if me == 0 { send(n) } else { take(n) }) as i64;
            count(n);
            turn(me);
            i += 1;
        }
    };

    std::thread::scope(|scope| {
        scope.spawn(|| work(0));
        scope.spawn(|| work(1));
    });
    println!("free_rs_atomics: done");
}
