// SPDX-License-Identifier: GPL-3.0-or-later
// Free of races, as safe Rust is: vectors sent through std::sync::mpsc, and
// an Arc whose count both threads change, dropped by whoever is last.
include!("target.rs");

use std::sync::mpsc::{channel, sync_channel};
use std::sync::Arc;

#[inline(never)]
fn make(n: u64) -> Vec<u64> {
    vec![n; 4 + (n % 40) as usize]
}

#[inline(never)]
fn check(cells: &[u64], n: u64) {
    assert!(cells[0] == n && *cells.last().unwrap() == n);
}

fn main() {
    let target = Target::new();
    let (send, take) = channel::<(Vec<u64>, Arc<Vec<u64>>)>();
    let (back, got) = sync_channel::<Arc<Vec<u64>>>(4);
    let other = std::thread::spawn(move || {
        let mut n = 0;
        for (cells, shared) in take {
            check(&cells, n);
            check(&shared, n);
            if back.send(shared.clone()).is_err() {
                break;
            }
            n += 1;
        }
    });

    let mut i = 0;
    while target.goes_on(i) {
        let shared = Arc::new(make(i));
        send.send((make(i), shared.clone())).unwrap();
        check(&got.recv().unwrap(), i);
        check(&shared, i);
        i += 1;
    }
    drop(send);
    other.join().unwrap();
    println!("free_rs_channel: done");
}
