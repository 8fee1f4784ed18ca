//! `ptxopt man`: the manual pages, generated from the text of `--help`.

use super::{Cli, Console, Failure};
use crate::output::{Output, to_stdout};
use clap::CommandFactory;
use clap_mangen::Man;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Print a manual page, for `man -l -`, or write all of them
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Subcommand to document; the default is `ptxopt` itself
    #[arg(value_parser = ["dump", "eval", "explain", "graph", "prove", "ptxas", "run", "completions", "man"])]
    command: Option<String>,

    /// Write all pages into a directory, created if missing, such as `~/.local/share/man/man1`
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    out_dir: Option<PathBuf>,
}

pub(super) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    // There is no page about `help`, and so none should be named.
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    if let Some(folder) = &args.out_dir {
        return write_all(folder, &command)
            .map_err(|(path, error)| Failure::writing(console, path.display(), &error));
    }
    let about = args.command.as_deref().and_then(|name| command.find_subcommand(name)).unwrap_or(&command);
    to_stdout(|out| write_page(out, about)).map_err(|error| Failure::writing(console, "<stdout>", &error))
}

/// Writes a file for each page, by the name under which `man` finds it.
fn write_all(folder: &Path, command: &clap::Command) -> Result<(), (PathBuf, io::Error)> {
    fs::create_dir_all(folder).map_err(|error| (folder.to_owned(), error))?;
    for about in std::iter::once(command).chain(command.get_subcommands()) {
        let path = folder.join(format!("{}.1", name(about)));
        let mut page = Vec::new();
        write_page(&mut page, about)
            .and_then(|()| Output::File(path.clone()).write(std::iter::once(&page[..])))
            .map_err(|error| (path, error))?;
    }
    Ok(())
}

/// The name of a page: `ptxopt`, `ptxopt-run`.
fn name(command: &clap::Command) -> &str {
    command.get_display_name().unwrap_or(command.get_name())
}

fn write_page(out: &mut dyn Write, command: &clap::Command) -> io::Result<()> {
    let source = concat!("ptxopt ", env!("CARGO_PKG_VERSION"));
    // A blank for the date, which a page must have: an empty one is left out, and those after it would take its place.
    let page =
        Man::new(command.clone()).title(name(command)).date(" ").source(source).manual("User Commands");
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
    fn the_page_about_the_assembler_says_how_it_is_called_and_no_options_that_it_does_not_have() {
        let mut command = Cli::command();
        command.build();
        let about = command.find_subcommand("ptxas").expect("it is one");
        let mut page = Vec::new();
        write_page(&mut page, about).expect("memory can be written");
        let page = String::from_utf8(page).expect("it is text").replace('\\', "");
        assert!(page.contains("fBptxopt ptxasfR -- [ARGUMENT]..."), "{page}");
        assert!(!page.contains("verbose") && !page.contains("color"), "{page}");
    }

    #[test]
    fn every_subcommand_has_a_page() {
        for command in Cli::command().get_subcommands() {
            let name = command.get_name();
            assert!(Cli::try_parse_from(["ptxopt", "man", name]).is_ok(), "`ptxopt man {name}` is refused");
        }
    }
}
