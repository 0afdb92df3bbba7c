// SPDX-License-Identifier: GPL-3.0-or-later
// Rust: a ledger whose parts are reached by pointers without a lock, as by code
// that trusts itself.
include!("../../../tests/targets/target.rs");

use std::cell::Cell;
use std::ptr::addr_of_mut;
use std::sync::atomic::{compiler_fence, AtomicU64, Ordering};
use std::sync::Mutex;

const MEMOS: usize = 1 << 19;
const ASKED: u64 = 16;

static mut BALANCE: i64 = 0;
static mut DEBIT: u64 = 0;
static mut CREDIT: u64 = 0;
static mut RATE: u32 = 3;
static mut MEMO: [u32; MEMOS] = [0; MEMOS];
static mut DIRTY: bool = false;
static mut ROUNDING: fn(u64) -> u64 = round_down;
static SAVED: Mutex<u64> = Mutex::new(0);
static ASKED_FOR: AtomicU64 = AtomicU64::new(0);

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

// Money that is put in while it is taken out.
#[inline(never)]
unsafe fn balance_add(amount: i64) {
    let balance = addr_of_mut!(BALANCE);
    *balance = (*balance).wrapping_add(amount); // RACE: balance
}

// Both sides of one booking: they are read when one is there.
#[inline(never)]
unsafe fn books_enter(amount: u64) {
    let (debit, credit) = (addr_of_mut!(DEBIT), addr_of_mut!(CREDIT));
    debit.write_volatile((*debit).wrapping_add(amount)); // RACE: books
    opaque();
    credit.write_volatile((*credit).wrapping_add(amount)); // RACE: books
}

#[inline(never)]
unsafe fn books_differ() -> u64 {
    let debit = addr_of_mut!(DEBIT).read_volatile(); // RACE: books
    opaque();
    debit.wrapping_sub(addr_of_mut!(CREDIT).read_volatile()) // RACE: books
}

// A rate that is changed: of one sum or of the next.
#[inline(never)]
unsafe fn rate_set(value: u32) {
    *addr_of_mut!(RATE) = value; // RACE: rate
}

#[inline(never)]
unsafe fn rate_apply(sum: u64) -> u64 {
    sum.wrapping_mul(u64::from(*addr_of_mut!(RATE))) // RACE: rate
}

// The same for the same number, whoever computes it.
#[inline(never)]
unsafe fn memo_get(i: usize) -> u64 {
    let memo = addr_of_mut!(MEMO).cast::<u32>().add(i);
    if *memo == 0 { // RACE: memo
        *memo = (i as u32).wrapping_mul(5) | 1; // RACE: memo
    }
    opaque();
    u64::from(*memo) // RACE: memo
}

// Asked without the lock, and again with it.
#[inline(never)]
unsafe fn save_if_dirty() {
    let dirty = addr_of_mut!(DIRTY);
    if !dirty.read_volatile() { // RACE: save
        return;
    }
    let mut saved = SAVED.lock().unwrap();
    if *dirty { // RACE: save
        *dirty = false; // RACE: save
        *saved += 1;
    }
}

#[inline(never)]
unsafe fn save_request() {
    let saved = SAVED.lock().unwrap();
    *addr_of_mut!(DIRTY) = true; // RACE: save
    drop(saved);
}

#[inline(never)]
fn round_down(value: u64) -> u64 {
    value & !7
}

#[inline(never)]
fn round_by_hand(value: u64) -> u64 {
    value - value % 8
}

// Two ways to the same number.
#[inline(never)]
unsafe fn rounding_choose(i: u64) {
    *addr_of_mut!(ROUNDING) = if i & 1 == 0 { round_down } else { round_by_hand }; // RACE: rounding
}

#[inline(never)]
unsafe fn rounding_apply(value: u64) -> u64 {
    (*addr_of_mut!(ROUNDING))(value) // RACE: rounding
}

fn next_memo() -> usize {
    (ASKED_FOR.fetch_add(1, Ordering::Relaxed) / ASKED) as usize % MEMOS
}

fn role(target: Target, turn: unsafe fn(u64), pace: u32) {
    let mut i = 0;

    while target.goes_on(i) {
        unsafe { turn(i) };
        for _ in 0..pace {
            std::hint::spin_loop();
        }
        i += 1;
    }
}

unsafe fn clerk(i: u64) {
    balance_add(7);
    books_enter(i % 100);
    rate_set(i as u32 % 5);
    use_value(memo_get(next_memo()));
    save_if_dirty();
    rounding_choose(i);
}

unsafe fn auditor(i: u64) {
    balance_add(-7);
    use_value(books_differ() & 0xff);
    use_value(rate_apply(i % 1000));
    use_value(memo_get(next_memo()));
    save_request();
    use_value(rounding_apply(i % 10000));
}

fn main() {
    let target = Target::new();
    let second = std::thread::spawn(move || role(target, auditor, 4));

    role(target, clerk, 3);
    second.join().unwrap();
    println!("ledger: done");
}
