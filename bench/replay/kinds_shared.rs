// SPDX-License-Identifier: GPL-3.0-or-later
// kinds.c in Rust, by pointers as in code that trusts itself; kind! says whether a
// function is inlined. Included by kinds_rs.rs and kinds_rs_inlined.rs.
include!("../../tests/targets/target.rs");

use std::hint::black_box;
use std::ptr::{addr_of, addr_of_mut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Mutex;

const CELLS: usize = 256;
const ITEMS: usize = 16;

#[derive(Clone, Copy)]
struct Cell {
    value: u64,
    lap: u64,
}

const EMPTY: Cell = Cell { value: 0, lap: 0 };

static mut SPIN_CELLS: [Cell; CELLS] = [EMPTY; CELLS];
static mut CHECK_CELLS: [Cell; CELLS] = [EMPTY; CELLS];
static CHECK_LOCK: Mutex<()> = Mutex::new(());
static ITEMS_OF: [u32; ITEMS] = [1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0];
static mut COUNTER: u64 = 0;
static mut REFERENCES: u64 = 1;
static mut FREED: u32 = 0;
static mut BITS: u32 = 0;
static mut DISJOINT: u32 = 1;
static mut FLAGS: u32 = 0;
static mut REDUNDANT: u32 = 0;
static mut CHOICE: fn(&[u32; ITEMS]) -> u64 = sum_up;
static mut PRODUCED: u64 = 0;
static mut BATCH: u32 = 1;
static mut SETTING: u32 = 0;

thread_local! {
    static USED: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

#[inline(never)]
fn use_value(value: u64) {
    USED.with(|used| used.set(used.get().wrapping_mul(3).wrapping_add(value + 1)));
}

// What a compiler may not move accesses across.
fn opaque() {
    std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
}

#[inline(never)]
fn sum_up(of: &[u32; ITEMS]) -> u64 {
    of.iter().map(|item| u64::from(*item)).sum()
}

#[inline(never)]
fn sum_down(of: &[u32; ITEMS]) -> u64 {
    of.iter().rev().map(|item| u64::from(*item)).sum()
}

kind! {
    unsafe fn counter_add() {
        let counter = addr_of_mut!(COUNTER);
        *counter = (*counter).wrapping_add(1);
    }
}

kind! {
    unsafe fn references_get() {
        let references = addr_of_mut!(REFERENCES);
        *references = (*references).wrapping_add(1);
    }
}

kind! {
    unsafe fn references_put() {
        let references = addr_of_mut!(REFERENCES);
        *references = (*references).wrapping_sub(1);
        if *references == 0 {
            let freed = addr_of_mut!(FREED);
            *freed = (*freed).wrapping_add(1);
        }
    }
}

kind! {
    unsafe fn bits_turn(bit: u32) {
        *addr_of_mut!(BITS) ^= bit;
    }
}

kind! {
    unsafe fn flags_claim(who: u32) {
        let flags = addr_of_mut!(FLAGS);
        if *flags == 0 {
            *flags = who;
            opaque();
            let freed = addr_of_mut!(FREED);
            *freed = (*freed).wrapping_add(who);
            *flags = 0;
        }
    }
}

kind! {
    unsafe fn check_get(cell: *mut Cell, lap: u64) -> u64 {
        if (*cell).lap != lap {
            let lock = CHECK_LOCK.lock();
            if (*cell).lap != lap {
                (*cell).value = lap * 31;
                opaque();
                (*cell).lap = lap;
            }
            drop(lock);
        }
        opaque();
        (*cell).value
    }
}

kind! {
    unsafe fn spin_fill(cell: *mut Cell, lap: u64) {
        (*cell).value = lap + 1;
        opaque();
        (*cell).lap = lap;
    }
}

kind! {
    unsafe fn spin_wait(cell: *const Cell, lap: u64) -> u64 {
        let mut spins = 0;
        while addr_of!((*cell).lap).read_volatile() != lap {
            spins += 1;
            if spins > 4000000 {
                return 0;
            }
        }
        (*cell).value
    }
}

kind! {
    unsafe fn redundant_set() {
        *addr_of_mut!(REDUNDANT) = 1;
    }
}

kind! {
    unsafe fn disjoint_test() -> u32 {
        *addr_of!(DISJOINT) & 1
    }
}

kind! {
    unsafe fn disjoint_turn() {
        *addr_of_mut!(DISJOINT) ^= 2;
    }
}

kind! {
    unsafe fn choice_set(i: u64) {
        *addr_of_mut!(CHOICE) = if i & 1 != 0 { sum_up } else { sum_down };
    }
}

kind! {
    unsafe fn choice_call() -> u64 {
        (*addr_of!(CHOICE))(&ITEMS_OF)
    }
}

kind! {
    unsafe fn produced_add() {
        let produced = addr_of_mut!(PRODUCED);
        *produced = (*produced).wrapping_add(1);
    }
}

kind! {
    unsafe fn produced_some(taken: u64) -> bool {
        *addr_of!(PRODUCED) > taken + 7
    }
}

kind! {
    unsafe fn batch_set(i: u64) {
        *addr_of_mut!(BATCH) = 1 + (i % 3) as u32;
    }
}

kind! {
    unsafe fn batch_sum() -> u64 {
        let step = *addr_of!(BATCH) as usize;
        let mut sum = 0;
        let mut i = 0;
        while i < ITEMS {
            let mut j = i;
            while j < i + step && j < ITEMS {
                sum += u64::from(ITEMS_OF[j]);
                j += 1;
            }
            i += step;
        }
        sum
    }
}

kind! {
    unsafe fn setting_set(on: u32) {
        *addr_of_mut!(SETTING) = on;
    }
}

kind! {
    unsafe fn setting_get() -> u32 {
        *addr_of!(SETTING)
    }
}

// The callers of both threads, not inlined themselves.
macro_rules! caller {
    ($name:ident, $i:ident, $body:expr) => {
        #[inline(never)]
        unsafe fn $name($i: u64) {
            $body
        }
    };
}

fn lap(i: u64) -> u64 {
    i / CELLS as u64 + 1
}

unsafe fn spin_cell(i: u64) -> *mut Cell {
    addr_of_mut!(SPIN_CELLS[i as usize % CELLS])
}

unsafe fn check_cell(i: u64) -> *mut Cell {
    addr_of_mut!(CHECK_CELLS[i as usize % CELLS])
}

caller!(counter_both, _i, counter_add());
caller!(references_first, _i, references_get());
caller!(references_second, _i, references_put());
caller!(bits_first, _i, bits_turn(1));
caller!(bits_second, _i, bits_turn(2));
caller!(flags_first, _i, flags_claim(1));
caller!(flags_second, _i, flags_claim(2));
caller!(check_both, i, use_value(check_get(check_cell(i), lap(i))));
caller!(spin_first, i, spin_fill(spin_cell(i), lap(i)));
caller!(spin_second, i, use_value(spin_wait(spin_cell(i), lap(i))));
caller!(redundant_both, _i, redundant_set());
caller!(disjoint_first, _i, use_value(u64::from(disjoint_test())));
caller!(disjoint_second, _i, disjoint_turn());
caller!(choice_first, i, choice_set(i));
caller!(choice_second, _i, use_value(choice_call()));
caller!(produced_first, _i, produced_add());
caller!(produced_second, _i, use_value(u64::from(produced_some(1))));
caller!(batch_first, i, batch_set(i));
caller!(batch_second, _i, use_value(batch_sum()));
caller!(setting_first, i, setting_set(i as u32 & 1));
caller!(setting_second, _i, use_value(u64::from(setting_get())));

// As kinds.c has it: a thread that is a lap ahead would make other races of these.
static SECOND_AT: AtomicU64 = AtomicU64::new(0);

#[inline(never)]
unsafe fn keep_in_step(i: u64) {
    let mut spins = 0;

    while i >= SECOND_AT.load(Ordering::Relaxed) + CELLS as u64 / 2 && spins < 4000000 {
        spins += 1;
    }
}

#[inline(never)]
unsafe fn second_is_at(i: u64) {
    SECOND_AT.store(i, Ordering::Relaxed);
}

type Turn = unsafe fn(u64);

const FIRST: [Turn; 13] = [
    keep_in_step,
    spin_first,
    counter_both,
    references_first,
    bits_first,
    flags_first,
    check_both,
    redundant_both,
    disjoint_first,
    choice_first,
    produced_first,
    batch_first,
    setting_first,
];
const SECOND: [Turn; 13] = [
    second_is_at,
    spin_second,
    counter_both,
    references_second,
    bits_second,
    flags_second,
    check_both,
    redundant_both,
    disjoint_second,
    choice_second,
    produced_second,
    batch_second,
    setting_second,
];

fn role(target: Target, turns: [Turn; 13], pace: u32) {
    let mut i = 0;

    while target.goes_on(i) {
        for turn in turns {
            unsafe { black_box(turn)(i) };
        }
        for step in 0..pace {
            black_box(step);
        }
        i += 1;
    }
}

fn main() {
    let target = Target::new();
    let second = std::thread::spawn(move || role(target, SECOND, 20));

    role(target, FIRST, 60);
    second.join().unwrap();
    println!("kinds: done");
}
