//! Whether the costs that the optimiser sees hold for forms that were not measured, and on GPUs that were not.

use crate::assembler::{Sample, SampleAssembler};
use crate::fused::{self, Drawn};
use crate::rows;
use ptxopt_grammar::video::Form;
use ptxopt_passes::cost::table::Generation;
use ptxopt_passes::cost::{Costs, Gpu};

/// How many forms are tried on each GPU.
const FORMS: usize = 400;

/// What is found wrong on all GPUs of a generation, one line each, and a line that counts.
pub(crate) fn outside(generation: &Generation) -> (Vec<String>, Vec<String>) {
    let (mut wrong, mut counts) = (Vec::new(), Vec::new());
    let others = generation.like_it.iter().map(|number| format!("sm_{number}"));
    for name in std::iter::once(generation.gpu.to_owned()).chain(others) {
        let costs = Costs::of(&Gpu::parse(&name).expect("every generation has targets"));
        let forms = forms();
        let text = |form: &Form| form.encode("%r0", "%r1", "%r2", Some("%r3"));
        let (forms, samples): (Vec<Form>, Vec<Sample>) =
            forms.iter().filter_map(|form| Some((*form, Sample { text: text(form)?, result: 'r' }))).unzip();
        let found = SampleAssembler::new(generation.assembler, &name).costs(&samples);
        let before = wrong.len();
        let mut exact = 0;
        for ((form, sample), found) in forms.iter().zip(&samples).zip(&found) {
            let cost = costs.video(*form, [false; 3]);
            exact += usize::from(cost.least == cost.most);
            match found {
                Some(found) if (cost.least..=cost.most).contains(found) => {}
                Some(found) => {
                    wrong.push(format!("{name}: {}: {found}, but the table says {cost}", sample.text));
                }
                None => wrong.push(format!("{name}: {}: rejected", sample.text)),
            }
        }
        let (tried, bad) = (forms.len(), wrong.len() - before);
        counts.push(format!("{name}: {tried} forms, {exact} with an exact cost, {bad} outside theirs"));
    }
    (wrong, counts)
}

/// How many sequences are tried on each GPU.
pub(crate) const SEQUENCES: usize = 1000;

/// How the costs of sequences compare with what is measured, and a line for each that is outside its interval.
pub(crate) fn sequences(generation: &Generation, of: Drawn) -> (Vec<String>, String) {
    let mut below = draw();
    let drawn = (0..SEQUENCES).map(|number| fused::drawn(of, 2 + number % 5, &mut below));
    let (steps, samples): (Vec<_>, Vec<Sample>) = drawn.unzip();
    let target = rows::target(generation);
    let costs = Costs::of(&Gpu::parse(&target).expect("every generation has targets"));
    let found = SampleAssembler::new(generation.assembler, &target).costs(&samples);
    let (mut wrong, mut exact, mut tried) = (Vec::new(), 0, 0);
    for ((steps, sample), found) in steps.iter().zip(&samples).zip(found) {
        let cost = costs.sequence(steps);
        let Some(found) = found.filter(|_| cost.most != u32::MAX) else { continue };
        tried += 1;
        exact += u32::from(cost.most == found);
        if !(cost.least..=cost.most).contains(&found) {
            wrong.push(format!("{target}: {}: {found}, but the tables say {cost}", sample.text));
        }
    }
    let count = format!(
        "{target}: {tried} sequences of {of:?}, {exact} of them at their upper bound, {} outside their costs",
        wrong.len()
    );
    (wrong, count)
}

/// Forms that are chosen by a fixed generator, any parts, masks and selectors.
fn forms() -> Vec<Form> {
    let rows: Vec<Form> = Form::all().collect();
    let mut below = draw();
    (0..FORMS).map(|_| rows[below(rows.len())].drawn(&mut below)).collect()
}

/// A fixed sequence of numbers that look random, each below the bound that is asked for.
fn draw() -> impl FnMut(usize) -> usize {
    let mut seed = 1_u32;
    move |bound| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as usize % bound
    }
}
