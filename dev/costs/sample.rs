//! Whether the costs that the optimiser sees hold for forms that were not measured, and on GPUs that were not.

use crate::assembler::{Assembler, Sample};
use ptxopt_grammar::video::{Form, Mad, Part, Routing, Scalar, Simd};
use ptxopt_passes::cost::table::Generation;
use ptxopt_passes::cost::{Costs, Gpu, video};

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
    let rows = video::rows();
    let mut seed = 1_u32;
    let mut below = |bound: usize| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as usize % bound
    };
    let mut forms = Vec::new();
    for _ in 0..FORMS {
        let row = rows[below(rows.len())];
        let mut part =
            || [None].into_iter().chain(Part::ALL.map(Some)).nth(below(7)).expect("there are seven");
        forms.push(match row {
            Form::Scalar(scalar) => Form::Scalar(Scalar { a: part(), b: part(), ..scalar }),
            Form::Mad(mad) => Form::Mad(Mad { a: part(), b: part(), ..mad }),
            Form::Simd(simd) => {
                let lanes = simd.routing.lanes();
                let plain = Routing::plain(lanes);
                let count = usize::from(lanes.count());
                let mut picks = |first: u8| -> Vec<u8> {
                    let default = (first..first + lanes.count()).collect();
                    if below(2) == 0 {
                        return default;
                    }
                    (0..count).map(|_| u8::try_from(below(2 * count)).expect("there are eight")).collect()
                };
                let (a, mut b) = (picks(0), picks(lanes.count()));
                // A lane that is read twice costs less.
                let twice = below(3) == 0;
                b.iter_mut().zip(&a).filter(|_| twice && below(2) == 0).for_each(|(b, a)| *b = *a);
                let routing = plain.selected(&a, &b).expect("there are such lanes");
                let mask =
                    u8::try_from(1 + below(usize::from(lanes.full_mask()))).expect("there are four lanes");
                let mask = if below(2) == 0 { lanes.full_mask() } else { mask };
                let routing = routing.masked(mask).expect("it is a mask");
                Form::Simd(Simd { routing, ..simd })
            }
        });
    }
    forms
}
