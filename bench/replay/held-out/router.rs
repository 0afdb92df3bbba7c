// SPDX-License-Identifier: GPL-3.0-or-later
// Rust: a table of routes in a structure that is shared by a raw pointer.
include!("../../../tests/targets/target.rs");

use std::cell::Cell;
use std::sync::atomic::{compiler_fence, AtomicU64, Ordering};

const ROUTES: usize = 16;

struct Router {
    length: usize,
    routes: [u64; ROUTES],
    hits: u64,
    links: u32,
    kind: u32,
    preferred: usize,
    leases: u64,
    epoch: u64,
}

#[derive(Clone, Copy)]
struct Shared(*mut Router);
unsafe impl Send for Shared {}

static TORN: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static USED: Cell<u64> = const { Cell::new(0) };
}

#[inline(never)]
fn use_value(value: u64) {
    USED.with(|used| used.set(used.get().wrapping_mul(3).wrapping_add(value + 1)));
}

fn opaque() {
    compiler_fence(Ordering::SeqCst);
}

// The length is there before the route is.
#[inline(never)]
unsafe fn route_add(router: *mut Router, value: u64) {
    let at = (*router).length % ROUTES; // RACE: route
    (*router).length = at + 1; // RACE: route
    opaque();
    (*router).routes[at] = value; // RACE: route
}

#[inline(never)]
unsafe fn route_last(router: *mut Router) -> u64 {
    let length = (*router).length; // RACE: route
    opaque();
    if length == 0 || length > ROUTES {
        return 0;
    }
    (*router).routes[length - 1] // RACE: route
}

// For a page of figures.
#[inline(never)]
unsafe fn hits_count(router: *mut Router) {
    (*router).hits = (*router).hits.wrapping_add(1); // RACE: hits
}

// Each link has a bit, and a thread that sets and clears it.
#[inline(never)]
unsafe fn links_flip(router: *mut Router, bit: u32) {
    (*router).links ^= bit; // RACE: links
}

// A bit that nobody changes, of a word of which one thread changes another.
#[inline(never)]
unsafe fn kind_is_edge(router: *mut Router) -> u64 {
    u64::from((*router).kind & 1) // RACE: kind
}

#[inline(never)]
unsafe fn kind_repaint(router: *mut Router) {
    (*router).kind ^= 0x100; // RACE: kind
}

// Where a search begins: it ends at the same place.
#[inline(never)]
unsafe fn preferred_note(router: *mut Router, i: usize) {
    (*router).preferred = i % ROUTES; // RACE: preferred
}

#[inline(never)]
unsafe fn preferred_find(router: *mut Router, all: &[u64; ROUTES]) -> u64 {
    let mut at = (*router).preferred % ROUTES; // RACE: preferred
    while all[at % ROUTES] != 9 {
        at += 1;
    }
    (at % ROUTES) as u64
}

// An address is leased, and was leased.
#[inline(never)]
unsafe fn lease_take(router: *mut Router) -> u64 {
    let lease = (*router).leases; // RACE: lease
    opaque();
    (*router).leases = lease.wrapping_add(1); // RACE: lease
    lease
}

// One thread counts; the other looks whether it has moved.
#[inline(never)]
unsafe fn epoch_move(router: *mut Router) {
    (*router).epoch = (*router).epoch.wrapping_add(1); // RACE: epoch
}

#[inline(never)]
unsafe fn epoch_has_moved(router: *mut Router, last: &mut u64) -> u64 {
    let now = (*router).epoch; // RACE: epoch
    let moved = now != *last;
    *last = now;
    u64::from(moved)
}

unsafe fn first(router: *mut Router, i: u64, _last: &mut u64) {
    route_add(router, i);
    hits_count(router);
    links_flip(router, 1);
    use_value(kind_is_edge(router));
    preferred_note(router, i as usize);
    use_value(lease_take(router));
    epoch_move(router);
}

unsafe fn second(router: *mut Router, i: u64, last: &mut u64) {
    let all = [1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 1, 1, 1, 1, 1, 1 + i % 2];

    use_value(route_last(router) & 0xffff);
    hits_count(router);
    links_flip(router, 2);
    kind_repaint(router);
    use_value(preferred_find(router, &all));
    use_value(lease_take(router));
    use_value(epoch_has_moved(router, last));
}

fn role(target: Target, shared: Shared, turn: unsafe fn(*mut Router, u64, &mut u64), pace: u32) {
    let (mut i, mut last) = (0, 0);

    while target.goes_on(i) {
        unsafe { turn(shared.0, i, &mut last) };
        for _ in 0..pace {
            std::hint::spin_loop();
        }
        i += 1;
    }
    TORN.fetch_add(last, Ordering::Relaxed);
}

fn main() {
    let target = Target::new();
    let shared = Shared(Box::leak(Box::new(Router {
        length: 0,
        routes: [0; ROUTES],
        hits: 0,
        links: 0,
        kind: 1,
        preferred: 0,
        leases: 0,
        epoch: 0,
    })));
    let thread = std::thread::spawn(move || role(target, shared, second, 3));

    role(target, shared, first, 4);
    thread.join().unwrap();
    println!("router: done");
}
