// SPDX-License-Identifier: GPL-3.0-or-later
// The same as holding.c with the locks of Rust's std, which do not have their
// owner in them:
//
//     holding_rs SECONDS ROW
//
// tests/run/holding.tab says what put() and look() hold in each row.
include!("target.rs");

use std::cell::UnsafeCell;
use std::sync::{Barrier, Mutex, RwLock};

struct Cell(UnsafeCell<u64>);
unsafe impl Sync for Cell {}

static CELL: Cell = Cell(UnsafeCell::new(0));
static MUTEX: Mutex<u64> = Mutex::new(0);
static RWLOCK: RwLock<u64> = RwLock::new(0);

#[inline(never)]
fn put(value: u64) {
    unsafe { *CELL.0.get() = value } // RACE: put
}

#[inline(never)]
fn look(value: u64) {
    unsafe { *CELL.0.get() = value + 1 } // RACE: look
}

fn put_held(row: &str, value: u64) {
    if row == "mutex" {
        let mut guard = MUTEX.lock().unwrap();
        put(value);
        *guard += value;
    } else {
        let mut guard = RWLOCK.write().unwrap();
        put(value);
        *guard += value;
    }
}

fn main() {
    let target = Target::new();
    let row = std::env::args().nth(2).unwrap_or("mutex".to_string());
    let start = Barrier::new(2);

    std::thread::scope(|scope| {
        let spawn = |name: &str, step: Box<dyn Fn(u64) + Send>| {
            let start = &start;

            std::thread::Builder::new()
                .name(name.to_string())
                .spawn_scoped(scope, move || {
                    let mut i = 0;

                    start.wait();
                    while target.goes_on(i) {
                        step(i);
                        i += 1;
                    }
                })
                .unwrap();
        };
        let row = row.clone();

        spawn("put", Box::new(move |i| put_held(&row, i)));
        spawn("look", Box::new(look));
    });
    unsafe { std::ptr::read_volatile(CELL.0.get()) };
    println!("holding_rs: done");
}
