//! What was measured, as a table for people and as JSON.

use crate::measured::Counts;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// One kind of code on one GPU.
pub(crate) struct Section {
    pub(crate) name: &'static str,
    counts: Vec<Counts>,
}

impl Section {
    pub(crate) const fn new(name: &'static str, counts: Vec<Counts>) -> Self {
        Self { name, counts }
    }

    /// One line: sums, and the geometric means of the quotients.
    pub(crate) fn summary(&self) -> String {
        let counts = &self.counts;
        let sum = |count: fn(&Counts) -> u32| counts.iter().map(|row| u64::from(count(row))).sum::<u64>();
        let longer = counts.iter().filter(|row| row.ours > row.assembler).count();
        let mut line = format!(
            "  {:<18} {:>5} rows: assembler {:>6}, ours {:>6}, mean {:.3}, {longer} longer",
            self.name,
            counts.len(),
            sum(|row| row.assembler),
            sum(|row| row.ours),
            mean(counts.iter().map(|row| (row.ours, row.assembler))),
        );
        if let Some(best) = counts.iter().map(|row| row.best.map(u64::from)).sum::<Option<u64>>()
            && !counts.is_empty()
        {
            let pairs = || counts.iter().filter_map(|row| Some((row.ours, row.best?)));
            line += &format!(
                "; best known {best}, mean {:.3} (ours is {:.3} of it): ours more on {}, as many on {}, fewer on {}",
                mean(counts.iter().filter_map(|row| Some((row.best?, row.assembler)))),
                mean(pairs()),
                pairs().filter(|(ours, best)| ours > best).count(),
                pairs().filter(|(ours, best)| ours == best).count(),
                pairs().filter(|(ours, best)| ours < best).count(),
            );
        }
        line
    }

    pub(crate) fn json(&self) -> Value {
        let counts = &self.counts;
        let rows = counts.iter().map(|row| {
            let mut counts = json!({ "assembler": row.assembler, "ours": row.ours });
            if let Some(best) = row.best {
                counts["best"] = json!(best);
            }
            (row.name.clone(), counts)
        });
        let sum = |count: fn(&Counts) -> u32| counts.iter().map(|row| u64::from(count(row))).sum::<u64>();
        json!({
            "assembler": sum(|row| row.assembler),
            "ours": sum(|row| row.ours),
            "best": counts.iter().map(|row| row.best.map(u64::from)).sum::<Option<u64>>(),
            "mean": mean(counts.iter().map(|row| (row.ours, row.assembler))),
            "rows": rows.collect::<serde_json::Map<_, _>>(),
        })
    }
}

/// The geometric mean of quotients, where nothing at all counts as one instruction.
fn mean(pairs: impl Iterator<Item = (u32, u32)>) -> f64 {
    let logarithm = |(count, of): (u32, u32)| (f64::from(count.max(1)) / f64::from(of.max(1))).ln();
    let (sum, number) =
        pairs.map(logarithm).fold((0.0, 0.0), |(sum, number), next| (sum + next, number + 1.0));
    if number == 0.0 { 1.0 } else { (sum / number).exp() }
}

/// The rows on which ours is longer than the best known or than the assembler's, with all GPUs where that is so.
pub(crate) fn worse(gpus: &[(String, Vec<Section>)]) -> Vec<String> {
    let mut rows: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for (gpu, sections) in gpus {
        for section in sections {
            for row in &section.counts {
                let limit = row.best.unwrap_or(row.assembler).min(row.assembler);
                if row.ours > limit {
                    let entry = rows.entry((section.name, &row.name)).or_default();
                    entry.push(format!("{gpu} {}>{limit}", row.ours));
                }
            }
        }
    }
    let mut lines = Vec::new();
    let mut last = "";
    for ((section, name), gpus) in rows {
        if std::mem::replace(&mut last, section) != section {
            lines.push(format!("{section}: ours, and the fewest known (or what the assembler makes of it):"));
        }
        lines.push(format!("  {name}: {}", gpus.join(", ")));
    }
    lines
}
