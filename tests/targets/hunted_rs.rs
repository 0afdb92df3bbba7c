// SPDX-License-Identifier: GPL-3.0-or-later
// One race between the threads of Rust, by unsafe code: both add to a field of a
// Box, the first one while it holds a std::sync::Mutex, the second one with none;
// as the twin, with the same. One has done its part long before the other comes,
// unless it is held.
use std::cell::UnsafeCell;
use std::sync::{Arc, Mutex};
use std::thread;

struct Account {
    other: u64,
    value: u64,
}

struct Shared(UnsafeCell<Box<Account>>, Mutex<u64>);

unsafe impl Sync for Shared {}

#[inline(never)]
fn make_account(other: u64) -> Box<Account> {
    Box::new(Account { other, value: 0 })
}

#[inline(never)]
fn add_first(shared: &Shared) {
    unsafe {
        (*shared.0.get()).value += 1;
    }
}

#[inline(never)]
fn add_second(shared: &Shared) {
    unsafe {
        (*shared.0.get()).value += 2;
    }
}

fn main() {
    let other = std::env::args().count() as u64;
    let shared = Arc::new(Shared(UnsafeCell::new(make_account(other)), Mutex::new(0)));
    let (one, two) = (shared.clone(), shared.clone());
    let first = thread::spawn(move || {
        let mut held = one.1.lock().unwrap();

        *held += 1;
        add_first(&one);
    });
    let second = thread::spawn(move || {
        let held = if cfg!(twin) { Some(two.1.lock().unwrap()) } else { None };

        add_second(&two);
        drop(held);
    });

    first.join().unwrap();
    second.join().unwrap();
    let account = unsafe { &*shared.0.get() };
    assert!(account.value <= 3 && account.other == other);
    println!("hunted_rs: done");
}
