//! `bosket completions`, `bosket man`: the tool about itself.

use bosket_model::{Diagnostic, Failure, Fault};
use clap::CommandFactory;

use crate::Outcome;
use crate::args::Cli;
use crate::output::print;

pub fn completions(shell: clap_complete::Shell) -> Result<Outcome, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "bosket", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(Outcome::Done)
}

/// One page for the tool and all its commands.
pub fn man() -> Result<Outcome, Failure> {
    let mut page = Vec::new();
    let mut command = Cli::command();
    command.build();
    let rendered = render(&command, &mut page);
    rendered.map_err(|e| {
        Failure::new(Fault::Environment, Diagnostic::error(format!("cannot render the page: {e}")))
    })?;
    print(&String::from_utf8_lossy(&page))?;
    Ok(Outcome::Done)
}

fn render(command: &clap::Command, page: &mut Vec<u8>) -> std::io::Result<()> {
    let man = clap_mangen::Man::new(command.clone());
    man.render_title(page)?;
    man.render_name_section(page)?;
    man.render_synopsis_section(page)?;
    man.render_description_section(page)?;
    man.render_options_section(page)?;
    page.extend_from_slice(b".SH COMMANDS\n");
    for sub in command.get_subcommands() {
        let deeper: Vec<&clap::Command> = sub.get_subcommands().filter(|c| c.get_name() != "help").collect();
        for command in if deeper.is_empty() { vec![sub] } else { deeper } {
            if command.get_name() == "help" {
                continue;
            }
            let man = clap_mangen::Man::new(command.clone());
            let name = command.get_bin_name().unwrap_or(command.get_name()).replace('-', "\\-");
            page.extend_from_slice(format!(".SS {name}\n").as_bytes());
            let mut part = Vec::new();
            man.render_description_section(&mut part)?;
            man.render_options_section(&mut part)?;
            // The parts bring section headings of their own; below a command they are paragraphs.
            let text = String::from_utf8_lossy(&part)
                .replace(".SH DESCRIPTION\n", "")
                .replace(".SH OPTIONS\n", ".PP\n");
            page.extend_from_slice(text.as_bytes());
        }
    }
    man.render_version_section(page)
}
