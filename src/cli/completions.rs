//! `ptxopt completions`: a script that completes the options in a shell, and the names of GPUs, passes and rules.
//!
//! The scripts that clap writes for zsh and fish do not expect a command line that begins with an input or with a
//! command, and none of them expects lists, so these are changed.

use super::{Cli, Console, Failure};
use crate::output::to_stdout;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use ptxopt_passes::PASSES;
use ptxopt_passes::cost::Gpu;
use ptxopt_passes::rules::{SWEEPS, rules};

/// The options of the main command that take lists, separated by commas.
const LISTS: [&str; 3] = ["gpu", "raise", "passes"];

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
    let script = if args.shell == Shell::Bash {
        for_bash(&script)
    } else if args.shell == Shell::Zsh {
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

/// What an option of the main command may be, by its name.
fn values(command: &Command, option: &str) -> Vec<PossibleValue> {
    let known = command.get_arguments().find(|known| known.get_id() == option);
    known.expect("these are options of it").get_possible_values()
}

/// The script for bash compares all of a list with each value: what stands before the last comma is kept instead.
fn for_bash(script: &str) -> String {
    let (mut main, mut list) = (false, false);
    let changed = |line: &str| {
        let word = line.trim();
        if let Some(command) = word.strip_suffix(')').filter(|word| word.starts_with("ptxopt")) {
            main = command == "ptxopt";
        }
        let line = if std::mem::take(&mut list) {
            line.replace("-- \"${cur}\"", "-P \"${cur%\"${cur##*,}\"}\" -- \"${cur##*,}\"")
        } else {
            line.to_owned()
        };
        let option = word.strip_prefix("--").and_then(|word| word.strip_suffix(')'));
        list = main && option.is_some_and(|option| LISTS.contains(&option));
        line + "\n"
    };
    script.lines().map(changed).collect()
}

/// For zsh, a function for the values in a list, by the name of the option.
fn values_for_zsh(command: &Command, option: &str) -> String {
    let described = |value: &PossibleValue| match value.get_help() {
        None => format!(" '{}'", value.get_name()),
        Some(help) => format!(" '{}:{}'", value.get_name(), help.to_string().replace('\'', "'\\''")),
    };
    let values: String = values(command, option).iter().map(described).collect();
    format!(
        "(( $+functions[_ptxopt_{option}] )) ||
_ptxopt_{option}() {{
    local -a values=({values} )
    _describe {option} values \"$@\"
}}

"
    )
}

/// The options of lists, the first in a script for zsh, with these functions for their values.
fn with_lists(mut script: String) -> String {
    for option in LISTS {
        let Some(at) = script.find(&format!("--{option}=[")) else { continue };
        // After the help and the name of the value: `]:GPU:(sm_50 sm_52)' \`.
        let values = script[at..].find(":(").map(|found| at + found + 1);
        let end = values.and_then(|from| script[from..].find(")' \\\n").map(|found| from + found + 1));
        if let (Some(from), Some(to)) = (values, end) {
            script.replace_range(from..to, &format!("_sequence _ptxopt_{option}"));
        }
    }
    script
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
    let first: String =
        LISTS.iter().map(|option| values_for_zsh(command, option)).chain([first.to_owned()]).collect();
    with_lists(script)
        .replace("$line[2]", "$line[1]")
        .replacen("\":: :_ptxopt_commands\"", "\":: :_ptxopt_first\"", 1)
        .replacen(choice, &(more + choice), 1)
        .replacen(commands, &(first + commands), 1)
}

/// The script for fish takes any first word for a command, gives up after an option without its value, and knows no
/// lists and no values that are not those of options.
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
    for option in LISTS {
        let values = values(command, option);
        let values: Vec<&str> = values.iter().map(PossibleValue::get_name).collect();
        script += &format!(
            "complete -c ptxopt -n \"__fish_ptxopt_needs_command; and string match -q '*,*' -- (commandline -ct)\" \
             -l {option} -r -f -a \"(__fish_append , {})\"\n",
            values.join(" ")
        );
    }
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
