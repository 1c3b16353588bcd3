//! `overspill spill`, and the plugins that `[spill]` loads.

use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use camino::Utf8Path;
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::sandbox::{Ran, Sandbox, ran};

/// Runs `overspill spill` with a text as its standard input.
fn spill(sandbox: &Sandbox, options: &str, text: &[u8]) -> Ran {
    let input = sandbox.work().join("input");
    fs_err::write(&input, text).unwrap();
    sandbox.shell(&format!("overspill spill --session s --tool fetch {options} < {input}"))
}

/// What the notice says of where a text is, and how many bytes are not shown.
fn notice(shown: &str) -> (String, usize) {
    let (_, notice) = shown.rsplit_once("\n\n(Omitted ").expect("a notice");
    let (omitted, rest) =
        notice.split_once(" bytes. Full formatted result stored at: ").expect("the notice");
    (rest.split_once(". ").unwrap().0.to_owned(), omitted.parse().unwrap())
}

fn long_text() -> String {
    (0..2_000).map(|n| format!("line {n} of 2000, with a ü\n")).collect()
}

#[test]
fn a_long_text_is_kept_in_a_private_file_and_shown_within_the_limit() {
    let sandbox = Sandbox::new();
    let text = long_text();
    let shown = spill(&sandbox, "--max-inline-bytes 900", text.as_bytes());
    assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""));
    let shown = shown.text();
    assert!((890..=900).contains(&shown.len()), "{} of 900 bytes", shown.len());
    assert!(shown.ends_with(')'), "no newline is added: {shown}");

    let (locator, omitted) = notice(&shown);
    assert!(locator.starts_with(sandbox.home().join("spill/session-").as_str()), "{locator}");
    assert_eq!(fs_err::read_to_string(&locator).unwrap(), text, "the whole text, exactly");
    let mode = |path: &Utf8Path| fs_err::metadata(path).unwrap().permissions().mode() & 0o7777;
    let locator = Utf8Path::new(&locator);
    assert_eq!((mode(locator), mode(locator.parent().unwrap())), (0o600, 0o700));

    let marker = format!("\n[... {omitted} bytes omitted ...]\n");
    let (head, rest) = shown.split_once(&marker).unwrap();
    let (tail, _) = rest.split_once("\n\n(Omitted").unwrap();
    assert!(text.starts_with(head) && text.ends_with(tail), "true ends of the text");
    assert_eq!(head.len() + tail.len() + omitted, text.len());

    // The notice says how to read it, for whoever has a shell.
    assert!(shown.contains(". Read this file in parts, such as with sed -n '1,200p'"), "{shown}");
    let line = format!("sed -n '1,200p' {locator}");
    assert_eq!(
        sandbox.shell(&line).text(),
        text.lines().take(200).map(|l| format!("{l}\n")).collect::<String>()
    );
    let tool = spill(&sandbox, "--max-inline-bytes 900 --hints tool", text.as_bytes()).text();
    assert!(tool.contains(". Use read with offset and limit on this path"), "{tool}");

    // The call is one as any other, and says what was shown.
    let saved = sandbox.overspill(["show", "s", "--json"]).text();
    assert!(saved.contains(&format!("\"shownBytes\": {}", head.len() + tail.len())), "{saved}");
    assert!(saved.contains("\"truncated\": true"), "{saved}");
}

#[test]
fn as_an_artifact_it_is_read_as_the_hint_says() {
    let sandbox = Sandbox::new();
    let text = long_text();
    let options = "--max-inline-bytes 600 --backend artifact";
    let shown = spill(&sandbox, options, text.as_bytes()).text();
    let (locator, _) = notice(&shown);
    assert!(locator.starts_with("artifact://"), "{shown}");
    let hint = format!("{locator}. Use `overspill read` with this URI, --offset and --limit");
    assert!(shown.contains(&hint), "{shown}");
    assert_eq!(sandbox.read_all(&locator), text.as_bytes());
    let removed = sandbox.overspill(["gc", "--grace", "0s"]);
    assert_eq!(removed.code, Some(0), "{}", removed.stderr);
    assert_eq!(sandbox.read_all(&locator), text.as_bytes(), "the session keeps it");

    let tool = spill(&sandbox, &format!("{options} --hints tool"), text.as_bytes()).text();
    assert!(tool.contains(". Use read with this URI as filePath, offset and limit"), "{tool}");
}

#[cfg(feature = "object")]
#[test]
fn in_an_object_store_it_is_below_the_url() {
    let sandbox = Sandbox::new();
    let text = long_text();
    let options = "--max-inline-bytes 600 --backend object";
    let unset = spill(&sandbox, options, text.as_bytes());
    assert_eq!(unset.code, Some(1));
    assert!(unset.stderr.contains("[spill] url is not set"), "{}", unset.stderr);

    let objects = sandbox.work().join("objects");
    sandbox.configure(&format!("[spill]\nurl = \"file://{objects}\"\n"));
    let shown = spill(&sandbox, options, text.as_bytes()).text();
    let (locator, _) = notice(&shown);
    assert!(locator.starts_with(objects.join("session-").as_str()), "{locator}");
    assert_eq!(fs_err::read_to_string(&locator).unwrap(), text);
}

#[test]
fn what_is_within_the_limit_is_shown_as_it_is_and_kept_nowhere_else() {
    let sandbox = Sandbox::new();
    for text in ["", "one line", "two\nlines\n", "ü€😀"] {
        let options = format!("--max-inline-bytes {}", text.len().max(1));
        let shown = spill(&sandbox, &options, text.as_bytes());
        assert_eq!((shown.code, shown.text().as_str()), (Some(0), text));
    }
    assert!(!sandbox.home().join("spill").exists());
}

#[test]
fn what_cannot_be_spilled_is_shown_as_any_output_and_says_why() {
    let sandbox = Sandbox::new();
    let text = long_text();
    // No room for the notice: nothing is saved.
    let small = spill(&sandbox, "--max-inline-bytes 60", text.as_bytes());
    assert_eq!(small.code, Some(0));
    assert!(small.text().contains("[Truncated. Read more: overspill read artifact://"));
    assert!(small.stderr.contains("does not fit into 60 bytes"), "{}", small.stderr);
    assert!(!sandbox.home().join("spill").exists());

    // The place is not safe.
    fs_err::os::unix::fs::symlink(sandbox.work(), sandbox.home().join("spill")).unwrap();
    let refused = spill(&sandbox, "--max-inline-bytes 900", text.as_bytes());
    assert_eq!(refused.code, Some(0));
    assert!(refused.text().contains("[Truncated. Read more: overspill read artifact://"));
    assert!(refused.stderr.contains("refused to spill to"), "{}", refused.stderr);
    assert_eq!(fs_err::read_dir(sandbox.work()).unwrap().count(), 1, "only the input");

    // Bytes that are no text are never spilled; they are summarised.
    let binary = spill(&sandbox, "--max-inline-bytes 900", &[0, 159, 146, 150].repeat(5_000));
    assert!(binary.text().starts_with("[binary output: 20000 bytes"), "{}", binary.text());
}

#[test]
fn without_a_limit_nothing_is_spilled_and_it_says_where_to_set_one() {
    let sandbox = Sandbox::new();
    let text = long_text();
    let shown = spill(&sandbox, "", text.as_bytes());
    assert_eq!(shown.code, Some(0));
    assert!(shown.stderr.contains("--max-inline-bytes"), "{}", shown.stderr);
    assert!(shown.stderr.contains("overspill.toml"), "{}", shown.stderr);
    assert!(shown.text().contains("[Truncated. Read more: overspill read artifact://"));
    assert!(!sandbox.home().join("spill").exists());
    sandbox.configure("[spill]\nmax_inline_bytes = 4\n");
    assert_eq!(spill(&sandbox, "", b"text").text(), "text");
    let config = sandbox.overspill(["config"]).text();
    assert!(config.contains("[spill]\nbackend = \"local\"\nmax_inline_bytes = 4\n"), "{config}");
}

/// Runs a program whose standard output and error are a terminal.
fn on_a_terminal(command: &mut Command) -> (Option<i32>, String) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let terminal = || -> OwnedFd { rustix::fs::open(&name, flags, Mode::empty()).unwrap() };
    let mut child = command.stdout(terminal()).stderr(terminal()).spawn().unwrap();
    // Ours are closed, so that the terminal hangs up when the program ends.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut written = Vec::new();
    let mut piece = [0; 4096];
    // A terminal that has hung up is the end, or an error of the read.
    while let Ok(len @ 1..) = rustix::io::read(&master, &mut piece) {
        written.extend_from_slice(&piece[..len]);
    }
    (child.wait().unwrap().code(), String::from_utf8_lossy(&written).replace("\r\n", "\n"))
}

#[test]
fn the_configuration_loads_the_plugins_into_a_run_on_a_terminal() {
    let sandbox = Sandbox::new();
    let program = sandbox.program();
    let lines = |sandbox: &Sandbox| {
        let mut command = sandbox.command(program.as_str());
        command.args(["run", "--session", "s", "--", "seq", "5000"]);
        let (code, screen) = on_a_terminal(&mut command);
        assert_eq!(code, Some(0), "{screen}");
        screen.lines().filter(|line| line.parse::<u32>().is_ok()).count()
    };
    assert_eq!(lines(&sandbox), 2_000, "nothing is registered, and nothing else bounds it");
    sandbox.configure("[spill]\nmax_inline_bytes = 1000\n");
    let bounded = lines(&sandbox);
    assert!((100..300).contains(&bounded), "{bounded}");

    let mut shown = sandbox.command(program.as_str());
    let shown = ran(shown.args(["run", "--", "seq", "5000"]));
    assert!((900..=1000).contains(&shown.stdout.len()), "{}", shown.stdout.len());
    let hint = crate::sandbox::hint(&shown.text()).unwrap();
    let text = shown.text();
    let (head, _) = text.split_once("[Truncated").unwrap();
    let head = head.strip_prefix("[stdout]\n").unwrap().to_owned();
    let all: String = (1..=5000).map(|n| format!("{n}\n")).collect();
    let rest = sandbox.follow(&hint);
    assert_eq!(
        head + str::from_utf8(&rest).unwrap(),
        all,
        "the hint leads to all that is left out"
    );
    assert!(!sandbox.home().join("spill").exists(), "a preview has its whole in the store");
}
