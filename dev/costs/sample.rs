//! Whether the costs that the optimiser sees hold for forms that were not measured, and on GPUs that were not.

use crate::assembler::{Assembler, Sample};
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
        let found = Assembler::new(generation.assembler, &name).costs(&samples);
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

/// Forms that are chosen by a fixed generator, any parts, masks and selectors.
fn forms() -> Vec<Form> {
    let rows: Vec<Form> = Form::all().collect();
    let mut seed = 1_u32;
    let mut below = |bound: usize| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as usize % bound
    };
    (0..FORMS).map(|_| rows[below(rows.len())].drawn(&mut below)).collect()
}
