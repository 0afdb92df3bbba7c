// SPDX-License-Identifier: GPL-3.0-or-later
// Free of races: rayon's parallel iterators, join, scope and sort on a pool of
// three threads; each part of the data has one owner at a time.
include!("target.rs");

use rayon::prelude::*;

#[inline(never)]
fn cells_fill(cells: &mut [u64], n: u64) {
    cells
        .par_iter_mut()
        .enumerate()
        .for_each(|(i, cell)| *cell = n + (i as u64 * 7919) % 512);
}

#[inline(never)]
fn halves_sum(cells: &[u64]) -> u64 {
    if cells.len() <= 32 {
        return cells.iter().sum();
    }
    let (low, high) = cells.split_at(cells.len() / 2);
    let (a, b) = rayon::join(|| halves_sum(low), || halves_sum(high));

    a + b
}

#[inline(never)]
fn parts_double(cells: &mut [u64]) {
    rayon::scope(|scope| {
        for part in cells.chunks_mut(64) {
            scope.spawn(move |_| part.iter_mut().for_each(|cell| *cell *= 2));
        }
    });
}

#[inline(never)]
fn cells_sort(cells: &mut [u64]) {
    cells.par_sort_unstable();
    assert!(cells.windows(2).all(|pair| pair[0] <= pair[1]));
}

#[inline(never)]
fn words_gather(cells: &[u64]) -> usize {
    let words: Vec<String> = cells
        .par_iter()
        .filter(|cell| *cell % 3 == 0)
        .map(|cell| cell.to_string())
        .collect();

    words.par_iter().map(|word| word.len()).sum()
}

fn main() {
    let target = Target::new();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let mut cells = vec![0; 512];
    let mut i = 0;

    while target.goes_on(i * 16) {
        pool.install(|| {
            cells_fill(&mut cells, i);
            let before = halves_sum(&cells);
            parts_double(&mut cells);
            assert_eq!(halves_sum(&cells), 2 * before);
            cells_sort(&mut cells);
            assert!(words_gather(&cells) > 0);
        });
        i += 1;
    }
    println!("free_rs_rayon: done");
}
