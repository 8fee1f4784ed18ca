//! A progress bar for runs over many files, shown only on a terminal.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

/// A run shorter than this shows no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// Counts finished files, and shows a bar once the run has lasted longer than [`PATIENCE`].
#[derive(Debug)]
pub(super) struct Progress {
    total: usize,
    done: usize,
    start: Instant,
    watched: bool,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Starts to count up to `total`.
    pub(super) fn new(total: usize) -> Self {
        let watched = total > 1 && io::stderr().is_terminal();
        Self { total, done: 0, start: Instant::now(), watched, bar: None }
    }

    /// One more file is finished.
    pub(super) fn advance(&mut self) {
        self.done += 1;
        if self.watched && self.bar.is_none() && self.start.elapsed() > PATIENCE {
            let bar = ProgressBar::new(self.total as u64);
            if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} files") {
                bar.set_style(style);
            }
            self.bar = Some(bar);
        }
        if let Some(bar) = &self.bar {
            bar.set_position(self.done as u64);
        }
    }

    /// Hides the bar while `print` runs.
    pub(super) fn aside(&self, print: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
