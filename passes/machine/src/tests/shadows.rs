//! Shadow memory against a list of all accesses: both find the same first race.
//!
//! The list is the definition of a race, applied to every pair of accesses; shadow memory keeps only the last ones.

use crate::races::{Clock, Epochs, How, Races, Strength};
use crate::shadow::{Change, Found, Run, Shadow};

const BYTES: usize = 512;
const WARPS: usize = 3;

/// An access as the list keeps it: the block, the warp, the epochs of both, and the thread of each byte.
struct Kept {
    block: u32,
    warp: u32,
    epoch: u32,
    warp_epoch: u32,
    writes: bool,
    lanes: Vec<(usize, u32)>,
}

impl Kept {
    /// Whether two accesses race.
    fn races(&self, earlier: &Self) -> bool {
        let same_warp = self.block == earlier.block && self.warp == earlier.warp;
        let ordered = self.block == earlier.block && earlier.epoch < self.epoch
            || same_warp && earlier.warp_epoch < self.warp_epoch;
        let clash = |&(byte, lane): &(usize, u32)| {
            earlier.lanes.iter().any(|&(other, by)| other == byte && !(same_warp && by == lane))
        };
        (self.writes || earlier.writes) && !ordered && self.lanes.iter().any(clash)
    }
}

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % end
    }
}

/// Runs random accesses up to the first race; whether there was one.
fn first_race_is_the_same(seed: u64) -> bool {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let (mut races, mut shadow) = (Races::new(), Shadow::new(BYTES));
    let mut kept: Vec<Kept> = Vec::new();
    for block in 0..3 {
        let (mut epochs, mut clocks) = (Epochs::default(), [Clock::default(); WARPS]);
        for _ in 0..12 {
            let warp = random.below(WARPS);
            match random.below(6) {
                0 => epochs.pass(true),
                1 => clocks[warp].epochs.pass(true),
                _ => {
                    let odd = random.below(16) == 0;
                    let each = 1 << if odd { random.below(4) } else { (block as usize + warp) % 4 };
                    let first = if odd { random.below(4) } else { 0 };
                    let count = 1 + random.below(4);
                    // Blocks and warps keep apart for the most part, or every launch would race at once.
                    let mut at = block as usize * 160 + warp * 48;
                    if random.below(24) == 0 {
                        at = random.below(BYTES - 64);
                    }
                    let run = Run { start: at / each * each, length: each * count, each, first };
                    let writes = random.below(3) == 0;
                    let who = races.who(&mut clocks[warp], (block, warp as u32), epochs);
                    let lanes = (0..run.length).map(|byte| (run.start + byte, (first + byte / each) as u32));
                    let now = Kept {
                        block,
                        warp: warp as u32,
                        epoch: epochs.now,
                        warp_epoch: clocks[warp].epochs.now,
                        writes,
                        lanes: lanes.collect(),
                    };
                    let want = kept.iter().any(|earlier| now.races(earlier));
                    let (old, new) = (vec![0; run.length], vec![1; run.length]);
                    let change = writes.then_some(Change { old: &old, new: &new });
                    let found = if random.below(2) == 0 {
                        let known = shadow.is_known(run, who.moment(), writes);
                        if known { Found::default() } else { shadow.row(&races, run, &who, change) }
                    } else {
                        let how = How { writes, strength: Strength::Weak };
                        let lane = |lane: usize| {
                            let start = run.start + lane * each;
                            shadow.touch(
                                &races,
                                start..start + each,
                                &who.on(first + lane),
                                how,
                                change_of(change, lane, each),
                            )
                        };
                        (0..count).map(lane).find(|found| found.race.is_some()).unwrap_or_default()
                    };
                    assert_eq!(found.race.is_some(), want, "seed {seed}, access {} of {run:?}", kept.len());
                    assert_eq!(found.unsure, None, "seed {seed}");
                    if want {
                        return true;
                    }
                    kept.push(now);
                }
            }
        }
    }
    false
}

fn change_of(change: Option<Change<'_>>, lane: usize, each: usize) -> Option<Change<'_>> {
    let part = lane * each..(lane + 1) * each;
    change.map(|Change { old, new }| Change { old: &old[part.clone()], new: &new[part] })
}

#[test]
fn shadows_find_the_first_race_that_there_is() {
    const SEEDS: u64 = 20_000;
    let raced = (0..SEEDS).filter(|&seed| first_race_is_the_same(seed)).count() as u64;
    assert!((SEEDS / 10..SEEDS * 95 / 100).contains(&raced), "{raced} of {SEEDS} raced");
}
