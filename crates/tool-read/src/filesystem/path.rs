//! From the path that a model gives to the one that is approved and opened.
//!
//! Responsible for `~`, relative paths, `.`, `..` and symbolic links. What does
//! not exist is kept by name: whether it can be opened is said when it is.

use std::io;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

use crate::arguments::excerpt;
use crate::config::ReadConfig;

/// Longest path taken, in bytes; systems take no longer one.
const MAX_PATH_BYTES: usize = 4096;
/// Most symbolic links on the way to one file, as on Linux.
const MAX_LINKS: usize = 40;

/// Why a text names no file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum PathError {
    #[error("filePath has a NUL character, which no path has")]
    Nul,
    #[error("filePath has {bytes} bytes; a path has at most {MAX_PATH_BYTES}")]
    TooLong { bytes: usize },
    #[error(
        "filePath {path:?} starts with ~, but no home directory is known; give an absolute path"
    )]
    NoHome { path: String },
    #[error("{path} leads through more than {MAX_LINKS} symbolic links, probably in a circle")]
    LinkLoop { path: Utf8PathBuf },
    #[error("the symbolic link {link} leads to a path that is not UTF-8")]
    LinkNotUtf8 { link: Utf8PathBuf },
    #[error("the symbolic link {link} cannot be followed")]
    Link {
        link: Utf8PathBuf,
        #[source]
        source: io::Error,
    },
}

/// The absolute path that `file_path` means, with links and `..` still in it.
///
/// # Errors
/// [`PathError`] where it can be no path.
pub(crate) fn locate(file_path: &str, config: &ReadConfig) -> Result<Utf8PathBuf, PathError> {
    if file_path.contains('\0') {
        return Err(PathError::Nul);
    }
    if file_path.len() > MAX_PATH_BYTES {
        return Err(PathError::TooLong { bytes: file_path.len() });
    }
    let below_home = match file_path.strip_prefix('~') {
        Some("") => Some(""),
        Some(rest) => rest.strip_prefix('/'),
        None => None,
    };
    match (below_home, &config.home) {
        (None, _) => Ok(config.cwd.join(file_path)),
        // `join` would take a second slash for the start of an absolute path.
        (Some(rest), Some(home)) => Ok(home.join(rest.trim_start_matches('/'))),
        (Some(_), None) => Err(PathError::NoHome { path: excerpt(file_path).to_owned() }),
    }
}

/// Follows every link of an absolute path. Blocking.
///
/// The result has neither links nor `.` nor `..`, as far as it exists and can
/// be seen; the rest is kept by name, and `..` takes one name away from it.
///
/// # Errors
/// [`PathError`] where a link leads nowhere that can be named.
pub(crate) fn resolve(path: &Utf8Path) -> Result<Utf8PathBuf, PathError> {
    let mut ahead = Vec::new();
    push_parts(&mut ahead, path);
    let mut resolved = Utf8PathBuf::from("/");
    let mut links = 0;
    while let Some(part) = ahead.pop() {
        let name = match part {
            Part::Root => {
                resolved = Utf8PathBuf::from("/");
                continue;
            }
            Part::Parent => {
                resolved.pop();
                continue;
            }
            Part::Name(name) => name,
        };
        let here = resolved.join(name);
        let is_link = fs_err::symlink_metadata(&here).is_ok_and(|found| found.is_symlink());
        if !is_link {
            resolved = here;
            continue;
        }
        links += 1;
        if links > MAX_LINKS {
            return Err(PathError::LinkLoop { path: path.to_owned() });
        }
        match fs_err::read_link(&here).map(Utf8PathBuf::try_from) {
            Ok(Ok(target)) => push_parts(&mut ahead, &target),
            Ok(Err(_)) => return Err(PathError::LinkNotUtf8 { link: here }),
            Err(source) => return Err(PathError::Link { link: here, source }),
        }
    }
    Ok(resolved)
}

enum Part {
    Root,
    Parent,
    Name(String),
}

/// Puts the parts of `path` on top of those that are still ahead.
fn push_parts(ahead: &mut Vec<Part>, path: &Utf8Path) {
    ahead.extend(path.components().rev().filter_map(|component| match component {
        Utf8Component::RootDir => Some(Part::Root),
        Utf8Component::ParentDir => Some(Part::Parent),
        Utf8Component::Normal(name) => Some(Part::Name(name.to_owned())),
        Utf8Component::CurDir | Utf8Component::Prefix(_) => None,
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_paths_mean() {
        let home = ReadConfig { home: Some("/home/me".into()), ..ReadConfig::new("/w") };
        for (given, expect) in [
            ("a.txt", "/w/a.txt"),
            ("./artifact:x", "/w/./artifact:x"),
            ("../a", "/w/../a"),
            ("/etc/hosts", "/etc/hosts"),
            ("~", "/home/me"),
            ("~/a", "/home/me/a"),
            ("~//etc/hosts", "/home/me/etc/hosts"),
            ("~me/a", "/w/~me/a"),
            ("a~", "/w/a~"),
        ] {
            assert_eq!(locate(given, &home).unwrap(), expect, "{given}");
        }
        let homeless = ReadConfig::new("/w");
        assert!(matches!(locate("~/a", &homeless), Err(PathError::NoHome { .. })));
        assert!(matches!(locate("a\0", &homeless), Err(PathError::Nul)));
        assert!(locate(&"a".repeat(4096), &homeless).is_ok());
        let too_long = locate(&"a".repeat(4097), &homeless);
        assert!(matches!(too_long, Err(PathError::TooLong { bytes: 4097 })));
    }

    #[test]
    fn links_and_dots_are_resolved() {
        let dir = tempfile::tempdir().unwrap();
        let top = Utf8PathBuf::try_from(dir.path().canonicalize().unwrap()).unwrap();
        fs_err::create_dir_all(top.join("real/deep")).unwrap();
        fs_err::write(top.join("real/file"), "x").unwrap();
        let link = |target: &str, name: &str| {
            fs_err::os::unix::fs::symlink(target, top.join(name)).unwrap();
        };
        link("real/deep", "to-deep");
        link("to-deep/../file", "to-file");
        link("/", "to-root");
        link("nowhere/at all", "dangling");
        link("round", "round");

        let resolved = |path: &str| resolve(&top.join(path)).unwrap();
        for (path, expect) in [
            ("real/./file", "real/file"),
            ("real//file/", "real/file"),
            // A link's parent is that of its target.
            ("to-deep/../file", "real/file"),
            ("to-file", "real/file"),
            ("dangling", "nowhere/at all"),
            ("absent/x/../../real/file", "real/file"),
            ("absent/../to-file", "real/file"),
            ("real/file/x", "real/file/x"),
        ] {
            assert_eq!(resolved(path), top.join(expect), "{path}");
        }
        assert_eq!(resolved("to-root/etc"), "/etc");
        assert_eq!(resolved("../../../../../../../../../../.."), "/");
        assert!(matches!(resolve(&top.join("round/x")), Err(PathError::LinkLoop { .. })));
    }

    #[test]
    fn a_link_to_other_bytes_is_named() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;

        let dir = tempfile::tempdir().unwrap();
        let link = Utf8PathBuf::try_from(dir.path().canonicalize().unwrap()).unwrap().join("link");
        fs_err::os::unix::fs::symlink(OsStr::from_bytes(b"\xff"), &link).unwrap();
        let error = resolve(&link).unwrap_err();
        assert!(matches!(error, PathError::LinkNotUtf8 { link: found } if found == link));
    }
}
