// SPDX-License-Identifier: GPL-3.0-or-later
// Free of races, as safe Rust is: std's Mutex, RwLock, Condvar, Barrier and
// Once, each around plain data.
include!("target.rs");

use std::sync::{Barrier, Condvar, Mutex, Once, RwLock};

static START: Once = Once::new();

#[derive(Default)]
struct Shared {
    ledger: Mutex<[i64; 4]>,
    table: RwLock<Vec<i64>>,
    turn: Mutex<(usize, i64, usize)>,
    turned: Condvar,
}

#[inline(never)]
fn ledger_enter(shared: &Shared, n: i64) {
    let mut ledger = shared.ledger.lock().unwrap();

    assert_eq!(ledger[0], ledger[3]);
    for cell in ledger.iter_mut() {
        *cell += n;
    }
}

#[inline(never)]
fn table_use(shared: &Shared, n: i64) {
    if n % 8 == 0 {
        for cell in shared.table.write().unwrap().iter_mut() {
            *cell = n;
        }
    }
    let table = shared.table.read().unwrap();
    assert_eq!(table[0], table[31]);
}

#[inline(never)]
fn turn_take(shared: &Shared, me: usize) {
    let mut turn = shared.turn.lock().unwrap();

    while turn.0 != me && turn.2 == 0 {
        turn = shared.turned.wait(turn).unwrap();
    }
    turn.0 = 1 - me;
    turn.1 += 1;
    shared.turned.notify_all();
}

fn main() {
    let target = Target::new();
    let meet = Barrier::new(2);
    let shared = Shared { table: RwLock::new(vec![0; 32]), ..Default::default() };
    let work = |me: usize| {
        meet.wait();
        let mut i = 0;
        while target.goes_on(i) {
            START.call_once(|| shared.ledger.lock().unwrap()[0] += 0);
            ledger_enter(&shared, i as i64);
            table_use(&shared, i as i64);
            turn_take(&shared, me);
            i += 1;
        }
        shared.turn.lock().unwrap().2 = 1;
        shared.turned.notify_all();
    };

    std::thread::scope(|scope| {
        scope.spawn(|| work(0));
        scope.spawn(|| work(1));
    });
    println!("free_rs_locks: done");
}
