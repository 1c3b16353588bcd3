//! Completion scripts and manual pages: what shells and `man` are given.

use crate::sandbox::Sandbox;

/// What bash offers for the last of these words, once it has the script.
fn offered(sandbox: &Sandbox, words: &[&str]) -> Vec<String> {
    let script = r#"
        source <(overspill completions bash)
        registered=$(complete -p overspill)
        [[ $registered =~ -F\ ([^ ]+) ]] || exit 9
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
        "${BASH_REMATCH[1]}" "$1" "${@: -1}" "${@: -2:1}"
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    let mut bash = sandbox.command("bash");
    let ran = crate::sandbox::ran(bash.args(["-c", script, "bash"]).args(words));
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{words:?}");
    ran.text().lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[test]
fn bash_takes_the_script_and_completes_by_it() {
    let sandbox = Sandbox::new();
    let script = sandbox.shell("overspill completions bash | bash -n -");
    assert_eq!((script.code, script.stderr.as_str()), (Some(0), ""));

    assert_eq!(offered(&sandbox, &["overspill", "re"]), ["read"]);
    let commands = offered(&sandbox, &["overspill", ""]);
    for command in ["run", "read", "ls", "completions", "man"] {
        assert!(commands.iter().any(|offered| offered == command), "{commands:?}");
    }
    assert_eq!(offered(&sandbox, &["overspill", "read", "--byte"]), ["--byte-offset"]);
    assert_eq!(offered(&sandbox, &["overspill", "run", "--shape", ""]), ["head", "head-tail"]);
    assert_eq!(offered(&sandbox, &["overspill", "completions", "z"]), ["zsh"]);
}

#[test]
fn every_shell_has_a_script_and_another_is_refused() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = sandbox.overspill(["completions", shell]);
        assert_eq!(script.code, Some(0), "{shell}");
        assert!(script.text().contains("byte-offset"), "{shell}");
    }
    let refused = sandbox.overspill(["completions", "csh"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("bash, elvish, fish"), "{}", refused.stderr);
    assert!(!sandbox.home().join("store").exists(), "no script needs a store");
}

/// The sections of a page, which must be of this name.
fn sections(page: &str, name: &str) -> Vec<String> {
    let title = page.lines().find_map(|line| line.strip_prefix(".TH ")).unwrap();
    assert!(title.starts_with(&format!("{name} 1 ")), "{title}");
    assert!(title.contains(&format!("\"overspill {}\"", env!("CARGO_PKG_VERSION"))), "{title}");
    page.lines().filter_map(|line| line.strip_prefix(".SH ")).map(str::to_owned).collect()
}

#[test]
fn there_is_a_page_for_the_program_and_for_each_command_it_names() {
    let sandbox = Sandbox::new();
    let page = sandbox.overspill(["man"]).text();
    let all = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "SUBCOMMANDS", "EXTRA", "VERSION"];
    assert_eq!(sections(&page, "overspill"), all);
    let named: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("overspill\\-")?.strip_suffix("(1)"))
        .collect();
    assert!(named.contains(&"run") && named.contains(&"man"), "{named:?}");
    for command in named {
        let page = sandbox.overspill(["man", command]).text();
        let sections = sections(&page, &format!("overspill-{command}"));
        assert_eq!(sections[..3], all[..3], "{command}");
    }
    let run = sandbox.overspill(["man", "run"]).text();
    assert!(run.contains("\\fB\\-\\-timeout\\fR") && run.contains("128+N"), "{run}");
    let unknown = sandbox.overspill(["man", "walk"]);
    assert_eq!(unknown.code, Some(1));
    assert!(unknown.stderr.contains("there is no command walk"), "{}", unknown.stderr);
}
