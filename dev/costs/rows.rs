//! The rows of a table, with what is measured for each cell.

use crate::assembler::{Sample, SampleAssembler};
use ptxopt_grammar::video::Form;
use ptxopt_passes::cost::table::{Cells, Generation};
use ptxopt_passes::cost::{Cost, video};
use std::collections::BTreeMap;

/// A row of a table.
pub(crate) struct Row {
    /// What it is called.
    pub(crate) name: String,
    /// The instructions whose costs each cell spans.
    pub(crate) cells: Vec<Vec<Sample>>,
    /// Where a row is only worth writing if its cost is not that of its parts: the parts of each sample of the cell.
    pub(crate) parts: Vec<Vec<Sample>>,
}

impl Row {
    /// A row whose cells need nothing to compare them with.
    pub(crate) const fn new(name: String, cells: Vec<Vec<Sample>>) -> Self {
        Self { name, cells, parts: Vec::new() }
    }

    /// A row of one cell, of samples with the parts that each consists of.
    pub(crate) fn compared(name: String, samples: Vec<(Sample, Vec<Sample>)>) -> Self {
        let (samples, parts) = samples.into_iter().unzip();
        Self { name, cells: vec![samples], parts }
    }
}

/// The rows of the table of video instructions.
pub(crate) fn video_rows() -> Vec<Row> {
    let sample = |text| Sample { text, result: 'r' };
    let cells =
        |row| video::cells(row).into_iter().map(|cell| cell.into_iter().map(sample).collect()).collect();
    Form::all().map(|row| Row::new(video::name(row), cells(row))).collect()
}

/// The target that a generation is measured with.
pub(crate) fn target(generation: &Generation) -> String {
    // Only the family has the packed bytes; everything else costs the same on all targets of a number.
    let family = matches!(generation.number(), 107 | 120);
    format!("{}{}", generation.gpu, if family { "f" } else { "" })
}

/// What all rows cost on a generation.
pub(crate) fn measure(rows: &[&Row], generation: &Generation) -> Vec<Cells> {
    let target = target(generation);
    let all = |row: &&Row| row.cells.iter().chain(&row.parts).flatten().cloned().collect::<Vec<_>>();
    let mut samples: Vec<Sample> = rows.iter().flat_map(all).collect();
    samples.sort();
    samples.dedup();
    let costs = SampleAssembler::new(generation.assembler, &target).costs(&samples);
    let costs: BTreeMap<&Sample, Option<u32>> = samples.iter().zip(costs).collect();
    let cell = |samples: &Vec<Sample>| {
        let found: Option<Vec<u32>> = samples.iter().map(|sample| costs[sample]).collect();
        found?.into_iter().map(Cost::exactly).reduce(Cost::or)
    };
    let is_sum = |row: &Row| {
        let sum = |parts: &Vec<Sample>| parts.iter().map(|part| costs[part]).sum::<Option<u32>>();
        !row.parts.is_empty()
            && row.cells[0].iter().zip(&row.parts).all(|(sample, parts)| costs[sample] == sum(parts))
    };
    let cells = |row: &Row| {
        let found = row.cells.iter().map(cell).collect::<Option<Vec<_>>>();
        found.filter(|_| !is_sum(row)).map(Into::into)
    };
    rows.iter().map(|row| cells(row)).collect()
}
