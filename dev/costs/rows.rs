//! The rows of a table, with what is measured for each cell.

use crate::assembler::{Assembler, Sample};
use ptxopt_passes::cost::table::{Cells, Generation};
use ptxopt_passes::cost::{Cost, video};
use std::collections::BTreeMap;

/// A row of a table.
pub(crate) struct Row {
    /// What it is called.
    pub(crate) name: String,
    /// The instructions whose costs each cell spans.
    pub(crate) cells: Vec<Vec<Sample>>,
}

/// The rows of the table of video instructions.
pub(crate) fn video_rows() -> Vec<Row> {
    let sample = |text| Sample { text, result: 'r' };
    let cells =
        |row| video::cells(row).into_iter().map(|cell| cell.into_iter().map(sample).collect()).collect();
    video::rows().into_iter().map(|row| Row { name: video::name(row), cells: cells(row) }).collect()
}

/// What all rows cost on a generation.
pub(crate) fn measure(rows: &[Row], generation: &Generation) -> Vec<Cells> {
    // Only the family has the packed bytes; everything else costs the same on all targets of a number.
    let family = matches!(generation.number(), 107 | 120);
    let target = format!("{}{}", generation.gpu, if family { "f" } else { "" });
    let mut samples: Vec<Sample> = rows.iter().flat_map(|row| row.cells.iter().flatten().cloned()).collect();
    samples.sort();
    samples.dedup();
    let costs = Assembler::new(generation.assembler, &target).costs(&samples);
    let costs: BTreeMap<&Sample, Option<u32>> = samples.iter().zip(costs).collect();
    let cell = |samples: &Vec<Sample>| {
        let found: Option<Vec<u32>> = samples.iter().map(|sample| costs[sample]).collect();
        found?.into_iter().map(Cost::exactly).reduce(Cost::or)
    };
    rows.iter().map(|row| row.cells.iter().map(cell).collect::<Option<Vec<_>>>().map(Into::into)).collect()
}
