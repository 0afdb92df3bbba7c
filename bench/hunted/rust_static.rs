// SPDX-License-Identifier: GPL-3.0-or-later
//
// Two threads count in a `static mut', one of them later. Correct: an atomic.
use std::thread;
use std::time::Duration;

#[cfg(not(twin))]
static mut COUNTER: u64 = 0;
#[cfg(twin)]
static COUNTER: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

#[inline(never)]
fn count() {
    #[cfg(not(twin))]
    unsafe {
        let counter = std::ptr::addr_of_mut!(COUNTER);
        *counter += 1; // RACE a
    }
    #[cfg(twin)]
    COUNTER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
}

fn main() {
    let early = thread::spawn(count);
    let late = thread::spawn(|| {
        thread::sleep(Duration::from_millis(20));
        count();
    });
    early.join().unwrap();
    late.join().unwrap();
    #[cfg(not(twin))]
    println!("{}", unsafe { std::ptr::addr_of!(COUNTER).read() });
    #[cfg(twin)]
    println!("{}", COUNTER.load(std::sync::atomic::Ordering::Relaxed));
}
