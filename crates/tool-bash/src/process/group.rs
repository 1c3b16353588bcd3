//! Who of a process group is alive.
//!
//! Responsible for that one question. The kernel answers signal 0 to a group
//! even where only zombies are left, and the leader is one until it is reaped;
//! so the question goes to `/proc`.

use rustix::process::Pid;

/// Whether a group has living members. A zombie is dead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Life {
    /// At least one is alive.
    Alive,
    /// Nobody is.
    Gone,
    /// There is no usable `/proc`.
    Unknown,
}

/// Looks through all processes. It blocks.
#[cfg(target_os = "linux")]
pub(super) fn life(group: Pid) -> Life {
    match linux::any_alive(group) {
        Ok(true) => Life::Alive,
        Ok(false) => Life::Gone,
        Err(_) => Life::Unknown,
    }
}

/// There is no portable way to look.
#[cfg(not(target_os = "linux"))]
pub(super) fn life(_group: Pid) -> Life {
    Life::Unknown
}

#[cfg(target_os = "linux")]
mod linux {
    use std::io;

    use rustix::process::Pid;

    pub(super) fn any_alive(group: Pid) -> io::Result<bool> {
        // In a process namespace of its own, over the /proc of another, we
        // would look for the wrong numbers.
        let own = fs_err::read_link("/proc/self")?;
        if own.to_str() != Some(&*std::process::id().to_string()) {
            return Err(io::Error::other("/proc counts processes otherwise than we do"));
        }
        for entry in fs_err::read_dir("/proc")? {
            let name = entry?.file_name();
            let Some(pid) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else {
                continue;
            };
            // One that cannot be read has ended in between, or is another
            // user's and hidden: out of our reach in any case.
            let stat = fs_err::read(format!("/proc/{pid}/stat"));
            if stat.is_ok_and(|stat| is_living_member(&stat, group)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads a line of `/proc/PID/stat`: `PID (NAME) STATE PPID PGRP …`, where
    /// NAME may be anything, brackets included.
    fn is_living_member(stat: &[u8], group: Pid) -> bool {
        // Counted from STATE.
        const STATE: usize = 0;
        const PGRP: usize = 2;
        const NUM_THREADS: usize = 17;
        let Some(end_of_name) = stat.iter().rposition(|&byte| byte == b')') else { return false };
        let rest = String::from_utf8_lossy(&stat[end_of_name + 1..]);
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let number = |index: usize| fields.get(index).and_then(|field| field.parse::<i32>().ok());
        // A process whose main thread has ended looks like a zombie as long as
        // its other threads run.
        let dead = matches!(fields.get(STATE), Some(&("Z" | "X" | "x")))
            && number(NUM_THREADS).is_none_or(|threads| threads <= 1);
        number(PGRP) == Some(group.as_raw_nonzero().get()) && !dead
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn stat_lines() {
            let group = Pid::from_raw(42).unwrap();
            let rest = "0 -1 4194560 96 0 0 0 0 0 0 0 20 0";
            for (name, state, pgrp, threads, expect) in [
                ("sleep", "S", 42, 1, true),
                ("sleep", "R", 42, 1, true),
                ("sleep", "T", 42, 1, true),
                ("sleep", "S", 43, 1, false),
                ("sleep", "Z", 42, 1, false),
                ("threads", "Z", 42, 2, true),
                ("a) Z 1 42 (b", "S", 42, 1, true),
                ("a) S 1 42 (b", "Z", 42, 1, false),
            ] {
                let line = format!("7 ({name}) {state} 1 {pgrp} 1 {rest} {threads} 0 12\n");
                assert_eq!(is_living_member(line.as_bytes(), group), expect, "{line}");
            }
            assert!(!is_living_member(b"", group));
            assert!(!is_living_member(b"7 (x) S", group));
        }

        #[test]
        fn a_real_stat_line_has_the_fields_where_we_read_them() {
            let group = rustix::process::getpgrp();
            assert!(any_alive(group).unwrap());
            assert!(is_living_member(&fs_err::read("/proc/self/stat").unwrap(), group));
        }
    }
}
