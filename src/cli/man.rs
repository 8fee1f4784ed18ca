//! `ptxopt man`: the manual pages, generated from the text of `--help`.

use super::{Cli, Console, Failure};
use crate::output::to_stdout;
use clap::CommandFactory;
use clap_mangen::Man;
use std::io::{self, Write};

/// Print a manual page, for `man -l -`
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Subcommand to document; the default is `ptxopt` itself
    #[arg(value_parser = ["dump", "eval", "explain", "graph", "prove", "ptxas", "run", "completions", "man"])]
    command: Option<String>,
}

pub(super) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    let mut command = Cli::command();
    command.build();
    let about = args.command.as_deref().and_then(|name| command.find_subcommand(name)).unwrap_or(&command);
    to_stdout(|out| write_page(out, about)).map_err(|error| Failure::writing(console, "<stdout>", &error))
}

fn write_page(out: &mut dyn Write, command: &clap::Command) -> io::Result<()> {
    let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
    let page = Man::new(command.clone()).title(name);
    page.render_title(out)?;
    page.render_name_section(out)?;
    page.render_synopsis_section(out)?;
    page.render_description_section(out)?;
    page.render_options_section(out)?;
    if command.has_subcommands() {
        page.render_subcommands_section(out)?;
    }
    command.get_after_help().map_or(Ok(()), |text| write_as_is(out, &text.to_string()))
}

/// Writes the text after the options with its line breaks, which its tables need.
fn write_as_is(out: &mut dyn Write, text: &str) -> io::Result<()> {
    writeln!(out, ".SH NOTES\n.nf")?;
    for line in text.lines() {
        writeln!(out, "\\&{}", line.replace('\\', "\\e").replace('-', "\\-"))?;
    }
    writeln!(out, ".fi")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[test]
    fn every_subcommand_has_a_page() {
        for command in Cli::command().get_subcommands() {
            let name = command.get_name();
            assert!(Cli::try_parse_from(["ptxopt", "man", name]).is_ok(), "`ptxopt man {name}` is refused");
        }
    }
}
