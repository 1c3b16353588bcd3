//! The command line.

use std::ffi::OsString;
use std::sync::LazyLock;
use std::time::Duration;

use camino::Utf8PathBuf;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use output_contract::{SessionId, ToolName};

use crate::config::SpillBackend;

/// Run any command, see a bounded preview of its output, and read every byte
/// back.
#[derive(Debug, Parser)]
#[command(name = "overspill", version, long_version = LONG_VERSION.as_str(), about)]
#[command(after_help = AFTER_HELP, max_term_width = 100)]
pub struct Cli {
    /// Say more of what happens, on standard error (-vv, -vvv: even more)
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What `rm --session` takes for all sessions; no session may be called so.
pub(crate) const EVERY_SESSION: &str = "all";

/// `--version` also says which wire types this program writes; `-V` does not.
static LONG_VERSION: LazyLock<String> = LazyLock::new(|| {
    format!("{}\nwire protocol {}", env!("CARGO_PKG_VERSION"), output_contract::PROTOCOL_VERSION)
});

const AFTER_HELP: &str = "\
Examples:
  overspill run -- cargo test            run a command, print a preview of what it wrote
  overspill read artifact://DIGEST/stdout --offset 2000
  overspill ls                           what is kept, by session

Everything is kept under $OVERSPILL_HOME (default: the XDG data directory).";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a command and print a bounded preview of its output; every byte is kept
    Run(RunArgs),
    /// Print a page of a stored output
    Read(ReadArgs),
    /// List sessions, or the calls of one
    Ls(LsArgs),
    /// Show the calls of a session again, or one call as it was
    Show(ShowArgs),
    /// Remove a session and let go of its outputs
    Rm(RmArgs),
    /// Keep a long text whole and print its ends, with where the rest is
    Spill(SpillArgs),
    /// Remove stored outputs that nothing refers to
    Gc(GcArgs),
    /// Say what is kept, in numbers
    Stat(StatArgs),
    /// Check every stored byte, and put aside what is damaged
    Verify(VerifyArgs),
    /// Put a summary in the place of what was said before, in a saved history
    Compact(CompactArgs),
    /// Print the configuration that is in force
    Config,
    /// Print a script that completes command lines, for a shell
    Completions(CompletionsArgs),
    /// Print a manual page, in troff
    Man(ManArgs),
}

/// `overspill run`
#[derive(Debug, Args)]
#[command(after_help = "\
The command runs without a shell; use `bash -c '…'` for pipes and redirections.
Its standard input is empty unless --stdin is given, and it has no terminal.
Of one stream at most [capture] max_stream_bytes are kept (`overspill config`).
Where [spill] max_inline_bytes is set, all that is shown is within that as well.

A background process that keeps an output open is waited for one second. What it
writes later is lost, and writing may end it: redirect it, `server >log 2>&1 &`.

Exit code: that of the command; 128+N if signal N ended it; 124 if it timed out;
125 if overspill failed; 126 or 127 if the command cannot be run or is not found.
A result that cannot be stored is said, and changes no exit code.

Examples:
  overspill run -- cargo test --workspace
  overspill run --timeout 30s --session build-7 -- make -j4
  overspill run --json -- git log | jq -r '.content[0].text'
  cat data | overspill run --stdin -- sort")]
pub struct RunArgs {
    /// End the command after this time, such as 30s, 5m or 1h30m
    #[arg(long, value_name = "DURATION", value_parser = timeout, allow_hyphen_values = true)]
    pub timeout: Option<Duration>,
    /// The session that the call belongs to [default: today's date, in UTC]
    #[arg(long, value_name = "SESSION", value_parser = new_session, allow_hyphen_values = true)]
    pub session: Option<SessionId>,
    /// Which part of each stream is shown [default: from the configuration]
    #[arg(long, value_enum)]
    pub shape: Option<ShapeArg>,
    /// The form of the hints: a command line, or a call of the read tool
    #[arg(long, value_enum, default_value_t = HintsArg::Cli)]
    pub hints: HintsArg,
    /// Most lines shown of each stream
    #[arg(long, value_name = "N", value_parser = at_least_one, allow_negative_numbers = true)]
    pub max_lines: Option<u64>,
    /// Most bytes shown of each stream
    #[arg(long, value_name = "N", value_parser = at_least_one, allow_negative_numbers = true)]
    pub max_bytes: Option<u64>,
    /// Give the command our standard input; a terminal's through a pipe
    #[arg(long)]
    pub stdin: bool,
    /// Print the whole result as JSON instead of the preview
    #[arg(long)]
    pub json: bool,
    /// The command and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// Which part of a stream is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ShapeArg {
    /// Its beginning
    Head,
    /// Its beginning and its end
    HeadTail,
}

/// The form of hints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HintsArg {
    /// `overspill read URI --offset N`
    Cli,
    /// `read(filePath="URI", offset=N)`
    Tool,
}

/// `overspill read`
#[derive(Debug, Args)]
#[command(after_help = "\
The page goes to standard output, byte for byte; where more remains, the command
that continues goes to standard error.

Examples:
  overspill read artifact://DIGEST                   a single output, or a manifest
  overspill read artifact://DIGEST/stdout            a stream, from its beginning
  overspill read artifact://DIGEST/stdout --offset 2000 --limit 100")]
pub struct ReadArgs {
    /// The address that a hint or a result gives, with a stream or without
    #[arg(value_name = "URI")]
    pub uri: String,
    /// First line of the page, counted from 0
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    pub offset: u64,
    /// Most lines of the page, at least 1; more than 2000 is 2000
    #[arg(long, value_name = "N", value_parser = at_least_one, allow_negative_numbers = true)]
    pub limit: Option<u64>,
    /// Start inside the first line, after this many of its bytes
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    pub byte_offset: u64,
    /// Print the page and its position as JSON
    #[arg(long)]
    pub json: bool,
}

/// `overspill ls`
#[derive(Debug, Args)]
pub struct LsArgs {
    /// List the calls of one session
    pub session: Option<SessionId>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `overspill show`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  overspill show 2026-01-31              the calls of a session
  overspill show 2026-01-31/0198f2       one call, by a prefix of its id
  overspill show 2026-01-31/0198f2 --display")]
pub struct ShowArgs {
    /// A session, or one of its calls
    #[arg(value_name = "SESSION[/CALL]")]
    pub what: String,
    /// Print what a person sees of the call instead of what the model sees
    #[arg(long, conflicts_with = "json")]
    pub display: bool,
    /// Print saved results as JSON
    #[arg(long)]
    pub json: bool,
}

/// `overspill rm`
#[derive(Debug, Args)]
#[command(after_help = "\
What the session kept is not removed at once: `overspill gc` does that, once
nothing else refers to it and the grace has passed.")]
pub struct RmArgs {
    /// The session to remove, or `all`
    #[arg(long, value_name = "SESSION|all")]
    pub session: SessionId,
}

/// `overspill spill`
#[derive(Debug, Args)]
#[command(after_help = "\
For the result of a tool that ran elsewhere: standard input is what it returned,
and standard output what its model should see. A text within the limit is shown
as any output is; a longer one is kept whole, and its head, its tail and where it
is are shown within the limit. Where it cannot be kept it is shown as any output
is, which may be more than the limit. The call is saved, so that `overspill show`
has it too.

The backend `local` keeps the text in a file beside the store, which nothing but
you removes; `artifact` keeps it in the store, for as long as the session.

Examples:
  fetch URL | overspill spill --session s1 --tool fetch --max-inline-bytes 20000
  fetch URL | overspill spill --session s1 --tool fetch --backend artifact")]
pub struct SpillArgs {
    /// The session that the text is kept for
    #[arg(long, value_name = "SESSION", value_parser = new_session, allow_hyphen_values = true)]
    pub session: SessionId,
    /// The tool that returned the text
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub tool: ToolName,
    /// Most bytes that are shown [default: from the configuration]
    #[arg(long, value_name = "N", value_parser = at_least_one, allow_negative_numbers = true)]
    pub max_inline_bytes: Option<u64>,
    /// Where a longer text is kept [default: from the configuration]
    #[arg(long, value_enum)]
    pub backend: Option<SpillBackend>,
    /// How the text is said to be read: with a shell, or with the read tool
    #[arg(long, value_enum, default_value_t = HintsArg::Cli)]
    pub hints: HintsArg,
}

/// `overspill gc`
#[derive(Debug, Args)]
#[command(after_help = "\
Before that, calls past [retention] max_age and max_bytes (`overspill config`) are
let go, oldest first. What `overspill run` writes is kept in bounds the same way:
it starts this in the background when nobody did for an hour.")]
pub struct GcArgs {
    /// Say what would be removed, and remove nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Leave alone what is younger than this [default: from the configuration]
    #[arg(long, value_name = "DURATION", value_parser = duration, allow_hyphen_values = true)]
    pub grace: Option<Duration>,
    /// Remove what nothing refers to even where the record of what is kept was lost
    #[arg(long)]
    pub force: bool,
    /// Print the report as JSON
    #[arg(long)]
    pub json: bool,
}

/// `overspill stat`
#[derive(Debug, Args)]
#[command(after_help = "\
Sizes are in bytes. What several calls share counts once in the first line and
once for each session.")]
pub struct StatArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `overspill verify`
#[derive(Debug, Args)]
#[command(after_help = "\
A damaged output is moved to store/quarantine in the home, which nothing empties,
and is never shown. Where the same output comes again, it is whole again.

Exit code: 1 if anything is damaged or cannot be read.")]
pub struct VerifyArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `overspill compact`
#[derive(Debug, Args)]
#[command(after_help = "\
The summariser is run by `sh`. It gets the history as a JSON array on standard
input, prints the summary, and exits with 75 where that is too long for its
model; then it is asked once more, with a copy in which outputs are references.
What only the history had is stored for that, in the session.

The new history goes to standard output, a report as JSON to standard error. The
file is not changed. A turn begins with what the user says; where all of the
history is in the last turns, there is nothing to compact.

Exit code: 75 if the copy is too long as well; 1 if it is no shorter than the
history, or the history stays as it is for another reason, which is said.

Examples:
  overspill compact --format anthropic --keep 2 --summarizer ./summarize chat.json
  overspill compact --format overspill --prune-only session.jsonl")]
pub struct CompactArgs {
    /// Whose history it is
    #[arg(long, value_enum)]
    pub format: HistoryFormat,
    /// The command that writes summaries
    #[arg(long, value_name = "COMMAND", required_unless_present = "prune_only")]
    pub summarizer: Option<String>,
    /// How many of the last turns stay as they are; 0 keeps none
    #[arg(long, value_name = "TURNS", default_value_t = 1)]
    pub keep: usize,
    /// Run no summariser; print the copy in which outputs are references
    #[arg(long)]
    pub prune_only: bool,
    /// The session that keeps what is stored [default: today's date, in UTC]
    #[arg(long, value_name = "SESSION", value_parser = new_session, allow_hyphen_values = true)]
    pub session: Option<SessionId>,
    /// The history
    pub file: Utf8PathBuf,
}

/// Whose format a history has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HistoryFormat {
    /// Messages, or a session of Claude Code
    Anthropic,
    /// Responses items, Chat messages, or a rollout of Codex
    Openai,
    /// History items, or the log of a session
    Overspill,
}

fn at_least_one(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("give a whole number of at least 1".to_owned()),
        Ok(number) => Ok(number),
    }
}

fn new_session(text: &str) -> Result<SessionId, String> {
    if text == EVERY_SESSION {
        return Err(format!("`{EVERY_SESSION}` means every session; choose another name"));
    }
    SessionId::new(text).map_err(|error| error.to_string())
}

/// `overspill completions`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  overspill completions bash > ~/.local/share/bash-completion/completions/overspill
  overspill completions zsh > ~/.zfunc/_overspill
  overspill completions fish > ~/.config/fish/completions/overspill.fish")]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// `overspill man`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  overspill man > overspill.1
  overspill man run > overspill-run.1
  overspill man run | man -l -")]
pub struct ManArgs {
    /// The command that the page is about [default: the program]
    pub command: Option<String>,
}

fn timeout(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err("a timeout must be longer than 0".to_owned()),
        duration => Ok(duration),
    }
}

/// A duration such as `90s` or `1h30m`; a bare number is seconds.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    if let Ok(seconds) = text.parse::<u64>() {
        return Ok(Duration::from_secs(seconds));
    }
    humantime::parse_duration(text)
        .map_err(|_| "write it like 30s, 1500ms, 5m or 1h30m; a bare number is seconds".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn durations() {
        assert_eq!(duration("5"), Ok(Duration::from_secs(5)));
        assert_eq!(duration("1h30m"), Ok(Duration::from_secs(5400)));
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert!(duration("soon").is_err());
        assert!(duration("-1").is_err());
        assert!(timeout("0s").is_err());
    }
}
