//! `ptxopt completions`: a script that completes the options in a shell, and the names of GPUs, passes and rules.
//!
//! The scripts that clap writes for zsh and fish do not expect a command line that begins with an input or with a
//! command, so these are changed.

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
    let mut command = with_names(Cli::command());
    clap_complete::generate(args.shell, &mut command, "ptxopt", &mut script);
    let script = String::from_utf8(script).expect("names and help are text");
    let script = if args.shell == Shell::Zsh {
        for_zsh(&script, &command)
    } else if args.shell == Shell::Fish {
        script + &for_fish(&command)
    } else {
        script
    };
    to_stdout(|out| out.write_all(script.as_bytes()))
        .map_err(|error| Failure::writing(console, "<stdout>", &error))
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

/// The names of the commands.
fn names<'c>(command: &'c Command, between: &str) -> String {
    let names: Vec<&'c str> = command.get_subcommands().map(Command::get_name).collect();
    names.join(between)
}

/// The script for zsh takes the first word for an input and the second for a command, and knows only one input.
fn for_zsh(script: &str, command: &Command) -> String {
    let first = "\
(( $+functions[_ptxopt_first] )) ||
_ptxopt_first() {
    _alternative 'commands:command:_ptxopt_commands' 'inputs:input:_files'
}

";
    let commands = "(( $+functions[_ptxopt_commands] )) ||\n";
    let choice = "        case $line[1] in\n";
    // After an input, what may follow is what may stand in its place.
    let more = format!(
        "        [[ $line[1] == ({}) ]] || {{ words[1]=ptxopt; _ptxopt; return }}\n",
        names(command, "|")
    );
    let lines = script.lines().filter(|line| !line.starts_with("':inputs -- "));
    let script: String = lines.flat_map(|line| [line, "\n"]).collect();
    script
        .replace("$line[2]", "$line[1]")
        .replacen("\":: :_ptxopt_commands\"", "\":: :_ptxopt_first\"", 1)
        .replacen(choice, &(more + choice), 1)
        .replacen(commands, &(first.to_owned() + commands), 1)
}

/// The script for fish takes any first word for a command, gives up after an option without its value, and knows no
/// values that are not those of options.
fn for_fish(command: &Command) -> String {
    let mut script = format!(
        "\nfunction __fish_ptxopt_needs_command
    for word in (commandline -opc)[2..]
        if contains -- $word {}
            echo $word
            return 1
        end
    end
    return 0
end
",
        names(command, " ")
    );
    for subcommand in command.get_subcommands() {
        for value in subcommand.get_positionals().flat_map(clap::Arg::get_possible_values) {
            let (of, name) = (subcommand.get_name(), value.get_name());
            script +=
                &format!("complete -c ptxopt -n \"__fish_ptxopt_using_subcommand {of}\" -f -a {name}\n");
        }
    }
    script
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
