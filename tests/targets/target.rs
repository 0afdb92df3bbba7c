// SPDX-License-Identifier: GPL-3.0-or-later
// What the target programs in Rust share; as target.h for the others. The
// argument is seconds, or xN for N rounds in each thread.

#[derive(Clone, Copy)]
pub struct Target {
    end: std::time::Instant,
    rounds: u64,
}

impl Target {
    pub fn new() -> Target {
        let arg = std::env::args().nth(1).unwrap_or("12".to_string());
        let rounds = arg.strip_prefix('x').map_or(0, |n| n.parse().unwrap());
        let seconds = arg.parse().unwrap_or(0.0);
        let time = std::time::Duration::from_secs_f64(seconds);

        Target { end: std::time::Instant::now() + time, rounds }
    }

    pub fn goes_on(&self, i: u64) -> bool {
        if self.rounds > 0 {
            return i < self.rounds;
        }
        i % 64 != 0 || std::time::Instant::now() < self.end
    }
}
