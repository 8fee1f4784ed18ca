//! Reasons, written by hand, why an idiom is not fused where the optimiser has none to tell.
//!
//! A reason stands for cells that are not fused: one that matches a fused cell, or none at all, is out of date.

const TABLE: &str = include_str!("reasons.tsv");

/// A line of the table.
pub(crate) struct Reason {
    /// The kernels, by name; `*` stands for any text.
    kernels: &'static str,
    /// The producers, in the same way.
    producers: &'static str,
    /// The reason.
    pub(crate) text: &'static str,
}

/// All of them, in the order of the table.
///
/// # Errors
///
/// If a line has other than three fields.
pub(crate) fn reasons() -> Result<Vec<Reason>, String> {
    let lines = TABLE.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let reason = |line: &'static str| match line.split('\t').collect::<Vec<_>>()[..] {
        [kernels, producers, text] => Ok(Reason { kernels, producers, text }),
        _ => Err(format!("reasons.tsv: `{line}` does not have three fields")),
    };
    lines.map(reason).collect()
}

impl Reason {
    /// Whether it is about a kernel of a producer.
    pub(crate) fn is_about(&self, kernel: &str, producer: &str) -> bool {
        matches(self.kernels, kernel) && matches(self.producers, producer)
    }

    /// The cells that it is about.
    pub(crate) fn about(&self) -> String {
        format!("`{}` of `{}`", self.kernels, self.producers)
    }
}

/// Whether a pattern with any number of `*` matches a text.
fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, rest)) => text.strip_prefix(start).is_some_and(|text| {
            let mut ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
            ends.any(|at| matches(rest, &text[at..]))
        }),
    }
}
