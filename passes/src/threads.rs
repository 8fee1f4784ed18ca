//! Work on several threads, with results in the order of the work.

use std::sync::Mutex;
use std::thread;

/// Does the work on each item, on so many threads at most. No thread is started for one item.
pub(crate) fn on_threads<T: Send, R: Send>(
    threads: usize,
    items: Vec<T>,
    work: &(dyn Fn(T) -> R + Sync),
) -> Vec<R> {
    let threads = threads.min(items.len());
    if threads <= 1 {
        return items.into_iter().map(work).collect();
    }
    let waiting = Mutex::new(items.into_iter().enumerate());
    let take = || waiting.lock().expect("no thread panics while it takes an item").next();
    let one = || {
        let mut done = Vec::new();
        while let Some((number, item)) = take() {
            done.push((number, work(item)));
        }
        done
    };
    let mut done: Vec<(usize, R)> = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, _>| thread.join().expect("work does not panic");
        threads.into_iter().flat_map(join).collect()
    });
    done.sort_unstable_by_key(|&(number, _)| number);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items() {
        for threads in [0, 1, 2, 7, 100] {
            let done = on_threads(threads, (0..40).collect(), &|item: u32| 2 * item);
            assert_eq!(done, (0..40).map(|item| 2 * item).collect::<Vec<_>>());
        }
        assert_eq!(on_threads(3, Vec::<u32>::new(), &|item| item), []);
    }
}
