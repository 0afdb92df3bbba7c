// SPDX-License-Identifier: GPL-3.0-or-later
// Free of races: crossbeam's channels, queues that work is stolen from, epochs,
// ShardedLock and scoped threads, with plain data handed through each.
include!("target.rs");

use crossbeam::channel::{bounded, unbounded, Receiver, Sender};
use crossbeam::deque::{Injector, Steal, Worker};
use crossbeam::epoch::{self, Atomic, Owned};
use crossbeam::queue::{ArrayQueue, SegQueue};
use crossbeam::sync::ShardedLock;
use std::sync::atomic::Ordering::{AcqRel, Acquire};

struct Parcel {
    serial: u64,
    body: [u64; 6],
}

impl Parcel {
    fn new(serial: u64) -> Box<Parcel> {
        Box::new(Parcel { serial, body: [serial * 3; 6] })
    }

    fn check(&self) {
        assert!(self.body.iter().all(|cell| *cell == self.serial * 3));
    }
}

struct Shared {
    jobs: Injector<Box<Parcel>>,
    ring: ArrayQueue<Box<Parcel>>,
    list: SegQueue<Box<Parcel>>,
    newest: Atomic<Parcel>,
    table: ShardedLock<Vec<u64>>,
}

#[inline(never)]
fn queues_use(shared: &Shared, worker: &Worker<Box<Parcel>>, i: u64) {
    shared.jobs.push(Parcel::new(i));
    if let Steal::Success(job) = shared.jobs.steal_batch_and_pop(worker) {
        job.check();
    }
    while let Some(job) = worker.pop() {
        job.check();
    }
    let _ = shared.ring.push(Parcel::new(i));
    shared.list.push(Parcel::new(i));
    if let Some(parcel) = shared.ring.pop() {
        parcel.check();
    }
    if let Some(parcel) = shared.list.pop() {
        parcel.check();
    }
}

#[inline(never)]
fn newest_change(shared: &Shared, i: u64) {
    let guard = epoch::pin();
    let new = Owned::new(Parcel { serial: i, body: [i * 3; 6] });

    if let Some(seen) = unsafe { shared.newest.load(Acquire, &guard).as_ref() } {
        seen.check();
    }
    let old = shared.newest.swap(new, AcqRel, &guard);
    if !old.is_null() {
        unsafe { guard.defer_destroy(old) };
    }
}

#[inline(never)]
fn table_use(shared: &Shared, i: u64) {
    if i % 16 == 0 {
        shared.table.write().unwrap().fill(i);
    }
    let table = shared.table.read().unwrap();
    assert_eq!(table[0], table[31]);
}

#[inline(never)]
fn letters_pass(to: &Sender<Box<Parcel>>, from: &Receiver<Box<Parcel>>, i: u64) {
    // the other one may have gone
    let _ = to.send(Parcel::new(i));
    if let Ok(parcel) = from.recv() {
        parcel.check();
    }
}

fn main() {
    let target = Target::new();
    let shared = Shared {
        jobs: Injector::new(),
        ring: ArrayQueue::new(4),
        list: SegQueue::new(),
        newest: Atomic::null(),
        table: ShardedLock::new(vec![0; 32]),
    };
    let work = |to: Sender<Box<Parcel>>, from: Receiver<Box<Parcel>>| {
        let worker = Worker::new_lifo();
        let mut i = 1;
        while target.goes_on(i) {
            queues_use(&shared, &worker, i);
            newest_change(&shared, i);
            table_use(&shared, i);
            letters_pass(&to, &from, i);
            i += 1;
        }
    };
    let (to_a, at_a) = bounded(2);
    let (to_b, at_b) = unbounded();

    crossbeam::scope(|scope| {
        scope.spawn(|_| work(to_b, at_a));
        scope.spawn(|_| work(to_a, at_b));
    })
    .unwrap();
    drop(unsafe { shared.newest.into_owned() });
    println!("free_rs_crossbeam: done");
}
