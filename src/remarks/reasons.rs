//! What a verdict on a rewrite means, for readers who have not met the word before. `docs/remarks.md` says the same.

use ptxopt_passes::optimiser::How;
use ptxopt_prover::Proof;

/// Why a rewrite that was checked in this way is right.
pub(crate) const fn reason(how: How) -> &'static str {
    match how {
        How::Proved(Proof::Structural) => "for all inputs: both sides are the same circuit",
        How::Proved(Proof::Parts) => {
            "for all inputs: both sides are sums, and each part that varies by itself was tried with all of its inputs"
        }
        How::Proved(Proof::Sat { .. }) => {
            "for all inputs: a search for one on which the two sides differ ended without one"
        }
        How::Sampled => "both sides agree on corner cases and on seeded inputs, with `--check sampled`",
        How::Dead => {
            "a statement that `--dce all` deleted: it only computes, and nothing reads what it computes"
        }
        How::Freed => {
            "a statement that a rewrite made unused: it only computes, and nothing reads what it computes"
        }
        How::Halved => {
            "for all inputs: a word is kept as two halves from there on, which hold the same bytes"
        }
        How::Carried => {
            "for all inputs: bytes or halves are carried in a word from there on, which holds the same"
        }
        How::Words => {
            "for all inputs: bytes side by side in memory are accessed as the word that they make up"
        }
        How::Moved => {
            "for all inputs: what branches decide is moved before it is stored, so that the move can be rewritten"
        }
        How::Unnamed => "a declaration that was deleted: nothing uses the name",
        How::Raised { independent: false } => "a `.target` or `.version` that was raised, with `--raise`",
        How::Raised { independent: true } => {
            "a `.target` from before sm_70 that was raised, with `--raise`: threads are scheduled in another way"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_says_the_same() {
        let page = include_str!("../../docs/remarks.md");
        for how in [
            How::Proved(Proof::Structural),
            How::Proved(Proof::Parts),
            How::Proved(Proof::Sat { conflicts: 7 }),
            How::Sampled,
            How::Dead,
            How::Freed,
            How::Halved,
            How::Carried,
            How::Words,
            How::Moved,
            How::Unnamed,
            How::Raised { independent: false },
            How::Raised { independent: true },
        ] {
            let verdict = how.to_string().replace('7', "N");
            let verdict = verdict.split(';').next().expect("a text has a first part");
            let row = format!("| `{verdict}` | {} |", reason(how));
            assert!(page.contains(&row), "{row}");
        }
    }
}
