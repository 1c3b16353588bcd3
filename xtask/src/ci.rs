//! `cargo xtask ci`: every check of the project, and the only definition of green.
//!
//! All steps run, whatever failed before; each prints what it finds, and a table at the end says
//! which failed. [`steps`] says what each step is, [`tool`] how outside tools are had.

mod msrv;
mod steps;
mod tool;
mod typescript;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use self::steps::{Outcome, STEPS, Step};
use crate::workspace::Workspace;

/// What to run, and how strictly.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Steps to run, all by default.
    #[arg(value_name = "STEP")]
    steps: Vec<String>,
    /// Count a step that could not run as failed (except `advisories`, which needs the network,
    /// and `bindings`, which compiles TypeScript where there is npm).
    #[arg(long)]
    strict: bool,
    /// List the steps, run none.
    #[arg(long)]
    list: bool,
}

/// Runs the steps asked for, in the order of the list; the exit code says whether all is well.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<ExitCode> {
    let chosen = choose(&options.steps)?;
    if options.list {
        for step in chosen {
            println!("{:<11} {}", step.name, step.about);
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut rows = Vec::new();
    for step in chosen {
        eprintln!("\n== {}: {}", step.name, step.about);
        let start = Instant::now();
        // A step that cannot even start must not keep the others from running.
        let outcome =
            (step.run)(workspace).unwrap_or_else(|error| Outcome::Failed(format!("{error:#}")));
        let outcome = if options.strict { strict(step, outcome) } else { outcome };
        if let Outcome::Failed(reason) = &outcome {
            eprintln!("{}: FAILED: {reason}", step.name);
        }
        rows.push(Row { name: step.name, outcome, took: start.elapsed() });
    }
    let (table, green) = summarize(&rows);
    eprintln!("\n{table}");
    Ok(if green { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The names that run a step alone.
pub(crate) fn step_names() -> impl Iterator<Item = &'static str> {
    STEPS.iter().map(|step| step.name)
}

/// One line of the table.
struct Row {
    name: &'static str,
    outcome: Outcome,
    took: Duration,
}

fn choose(names: &[String]) -> Result<Vec<&'static Step>> {
    if let Some(unknown) = names.iter().find(|name| !step_names().any(|known| known == *name)) {
        let known: Vec<&str> = step_names().collect();
        bail!("there is no step `{unknown}`; the steps are: {}", known.join(", "));
    }
    let wanted = |step: &&Step| names.is_empty() || names.iter().any(|name| name == step.name);
    Ok(STEPS.iter().filter(wanted).collect())
}

fn strict(step: &Step, outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Skipped(reason) if !step.may_skip => {
            Outcome::Failed(format!("skipped ({reason}), and --strict is given"))
        }
        other => other,
    }
}

fn summarize(rows: &[Row]) -> (String, bool) {
    let mut table = String::new();
    for Row { name, outcome, took } in rows {
        let (word, reason) = match outcome {
            Outcome::Ok => ("ok", ""),
            Outcome::Failed(reason) => ("FAILED", reason.as_str()),
            Outcome::Skipped(reason) => ("skipped", reason.as_str()),
        };
        let row = format!("{name:<11} {word:<8} {:>6.1} s  {reason}", took.as_secs_f64());
        table.push_str(row.trim_end());
        table.push('\n');
    }
    let failed: Vec<&str> = rows
        .iter()
        .filter(|row| matches!(row.outcome, Outcome::Failed(_)))
        .map(|row| row.name)
        .collect();
    let green = failed.is_empty();
    table.push_str(&if green {
        "green".to_owned()
    } else {
        format!("FAILED: {}", failed.join(", "))
    });
    (table, green)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skipped() -> Outcome {
        Outcome::Skipped("no tool".to_owned())
    }

    #[test]
    fn steps_are_chosen_by_name_and_run_in_the_order_of_the_list() {
        let chosen = choose(&["test".to_owned(), "fmt".to_owned()]).expect("both exist");
        assert_eq!(chosen.iter().map(|step| step.name).collect::<Vec<_>>(), ["fmt", "test"]);
        assert_eq!(choose(&[]).expect("all").len(), STEPS.len());
        let error = choose(&["lint".to_owned()]).expect_err("no such step").to_string();
        assert!(error.starts_with("there is no step `lint`; the steps are: fmt, "), "{error}");
    }

    #[test]
    fn a_skip_fails_a_strict_run_except_where_the_network_decides() {
        let step = |name: &str| STEPS.iter().find(|step| step.name == name).expect("a step");
        assert!(matches!(strict(step("deny"), skipped()), Outcome::Failed(_)));
        assert!(matches!(strict(step("advisories"), skipped()), Outcome::Skipped(_)));
        assert!(matches!(strict(step("deny"), Outcome::Ok), Outcome::Ok));
    }

    #[test]
    fn the_table_names_what_failed() {
        let row = |name, outcome| Row { name, outcome, took: Duration::from_millis(1234) };
        let (table, green) = summarize(&[row("fmt", Outcome::Ok), row("deny", skipped())]);
        assert_eq!(
            (table.as_str(), green),
            (
                "fmt         ok          1.2 s\n\
                 deny        skipped     1.2 s  no tool\n\
                 green",
                true
            )
        );
        let (table, green) = summarize(&[row("doc", Outcome::Failed("exit status: 1".to_owned()))]);
        let expect = "doc         FAILED      1.2 s  exit status: 1\nFAILED: doc";
        assert_eq!((table.as_str(), green), (expect, false));
    }
}
