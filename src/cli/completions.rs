//! `ptxopt completions`: a script that completes the options in a shell, and the names of GPUs, passes and rules.

use super::{Cli, Console, Failure};
use crate::output::to_stdout;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use ptxopt_passes::PASSES;
use ptxopt_passes::cost::Gpu;
use ptxopt_passes::rules::{SWEEPS, rules};

/// Print a script that completes options and names in a shell
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Shell to print the script for
    shell: Shell,
}

pub(super) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    // The generator panics where it cannot write, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut with_names(Cli::command()), "ptxopt", &mut script);
    to_stdout(|out| out.write_all(&script)).map_err(|error| Failure::writing(console, "<stdout>", &error))
}

/// The command with the values of its arguments listed. The command that runs takes more of them, such as `90` for
/// `sm_90` and lists, and its help would be filled by them.
fn with_names(mut command: Command) -> Command {
    let names = [("gpu", gpus()), ("passes", passes()), ("rule", rule_names())];
    for (argument, names) in names {
        if command.get_arguments().any(|known| known.get_id() == argument) {
            command = command.mut_arg(argument, |known| known.value_parser(PossibleValuesParser::new(names)));
        }
    }
    command.mut_subcommands(with_names)
}

fn gpus() -> Vec<PossibleValue> {
    Gpu::known().map(|gpu| PossibleValue::new(gpu.to_string())).collect()
}

fn passes() -> Vec<PossibleValue> {
    PASSES.iter().map(|pass| PossibleValue::new(pass.name).help(pass.summary)).collect()
}

fn rule_names() -> Vec<PossibleValue> {
    let rules = rules().map(|rule| rule.name).chain(SWEEPS.iter().map(|sweep| sweep.name));
    rules.chain(["disputed"]).map(PossibleValue::new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_gpu_pass_and_rule_is_completed_where_it_is_taken() {
        let command = with_names(Cli::command());
        let values = |command: &Command, argument: &str| -> Vec<String> {
            let found = command.get_arguments().find(|known| known.get_id() == argument);
            let values = found.expect("there is such an argument").get_possible_values();
            values.iter().map(|value| value.get_name().to_owned()).collect()
        };
        let subcommand = |name| command.find_subcommand(name).expect("there is such a subcommand");
        for of in [&command, subcommand("explain"), subcommand("graph")] {
            assert!(values(of, "gpu").contains(&"sm_90a".to_owned()));
        }
        assert_eq!(values(&command, "passes"), PASSES.iter().map(|pass| pass.name).collect::<Vec<_>>());
        let rules = values(subcommand("explain"), "rule");
        assert!(["lower", "dead", "disputed"].iter().all(|name| rules.contains(&(*name).to_owned())));
    }

    #[test]
    fn what_is_completed_is_taken() {
        for gpu in gpus() {
            assert!(super::super::optimise::gpu(gpu.get_name()).is_ok(), "{}", gpu.get_name());
        }
        for pass in passes() {
            assert!(ptxopt_passes::select(pass.get_name()).is_ok(), "{}", pass.get_name());
        }
    }
}
