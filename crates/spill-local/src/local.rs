//! The store: where texts go, and what is said of them.

use async_trait::async_trait;
use camino::{Utf8Path, Utf8PathBuf};
use output_contract::SessionId;
use sha2::{Digest as _, Sha256};
use spill::{SaveText, SpillError, SpillLocator, SpillRef, SpillStore, encode_name, unblock};
use uuid::Uuid;

use crate::directory::Directory;
use crate::error::LocalSpillError;
use crate::file::{self, Written};

/// The hint where no other is set. It is right for a `read` tool with line
/// offsets, and for any tool that searches files.
pub const DEFAULT_HINT: &str =
    "Use read with offset and limit on this path, and byteOffset inside long lines, or grep it.";

/// Hex digits of a random name, and of a session's.
const HEX_DIGITS: usize = 12;
const SESSION_PREFIX: &str = "session-";

/// Keeps texts in files below one directory.
#[derive(Debug, Clone)]
pub struct LocalSpill {
    root: Utf8PathBuf,
    hint: String,
}

impl LocalSpill {
    /// Keeps texts below `root`, an absolute path. It is made when the first
    /// text is saved, with what is missing of its parents, for this user only.
    ///
    /// A root that exists must be a directory of this user's that no one else
    /// may write to. Symbolic links may lead to it, but it must not be one.
    ///
    /// # Errors
    /// [`LocalSpillError`] where the path is relative or would not stay on one
    /// line.
    pub fn new(root: impl Into<Utf8PathBuf>) -> Result<Self, LocalSpillError> {
        let root = root.into();
        if !root.is_absolute() {
            return Err(LocalSpillError::RelativeRoot { root: root.into_string() });
        }
        one_line("spill root", root.as_str())?;
        // A slash at the end would have a symbolic link followed.
        let root = root.components().collect();
        Ok(Self { root, hint: DEFAULT_HINT.to_owned() })
    }

    /// Keeps texts in a directory of its own below `parent`, such as the system's
    /// directory for temporary files. Its name is random; it is made when the
    /// first text is saved.
    ///
    /// It outlives the store and the process, because a session may be resumed:
    /// removing it is left to whoever clears `parent`.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn private_in(parent: impl AsRef<Utf8Path>) -> Result<Self, LocalSpillError> {
        Self::new(parent.as_ref().join(format!("spill-{}", random_hex())))
    }

    /// Says something else of how a text is read, on one line: where the reader
    /// has another name, or is a program in a shell. The locator is the path.
    ///
    /// # Errors
    /// [`LocalSpillError`] where the hint is empty or has control characters.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Result<Self, LocalSpillError> {
        self.hint = hint.into();
        if self.hint.trim().is_empty() {
            return Err(LocalSpillError::EmptyHint);
        }
        one_line("retrieval hint", &self.hint)?;
        Ok(self)
    }

    /// The directory below which all texts are: what an approver has to allow
    /// to be read.
    pub fn root(&self) -> &Utf8Path {
        &self.root
    }
}

#[async_trait]
impl SpillStore for LocalSpill {
    async fn save_text(&self, text: SaveText) -> Result<SpillRef, SpillError> {
        let root = self.root.clone();
        let written = unblock(move || write(&root, &text)).await??;
        let locator = SpillLocator::new(written.path())
            .map_err(|error| SpillError::Backend(Box::new(error)))?;
        let bytes = written.bytes();
        written.keep();
        Ok(SpillRef { locator, bytes, retrieval_hint: self.hint.clone() })
    }

    fn max_reference_bytes(&self, suggested_name: &str) -> usize {
        let session = "/".len() + SESSION_PREFIX.len() + HEX_DIGITS;
        let leaf = "/".len() + HEX_DIGITS + "-".len() + encode_name(suggested_name).len();
        self.root.as_str().len() + session + leaf + self.hint.len()
    }
}

/// Writes a text. It blocks for as long as that takes.
fn write(root: &Utf8Path, text: &SaveText) -> Result<Written, SpillError> {
    write_in(&Directory::open_or_make(root)?, text)
}

fn write_in(root: &Directory, text: &SaveText) -> Result<Written, SpillError> {
    let session = root.open_or_make_child(&session_name(&text.owner.session))?;
    let written = file::write_new(session, &text.suggested_name, &text.content, random_hex)?;
    // Whoever reads goes by the path: it must still lead here.
    root.check_path()?;
    written.directory().check_in(root)?;
    Ok(written)
}

fn session_name(session: &SessionId) -> String {
    let digest = Sha256::digest(session.as_str().as_bytes());
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{SESSION_PREFIX}{}", &hex[..HEX_DIGITS])
}

/// The first 48 bits of a version 4 UUID, which are all random.
fn random_hex() -> String {
    let mut hex = Uuid::new_v4().simple().to_string();
    hex.truncate(HEX_DIGITS);
    hex
}

fn one_line(what: &'static str, text: &str) -> Result<(), LocalSpillError> {
    match text.contains(char::is_control) {
        true => Err(LocalSpillError::Control { what }),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use fs_err::os::unix::fs::symlink;
    use spill::{SpillOwner, SpillSource};

    use super::*;
    use crate::testing::Scratch;

    fn text() -> SaveText {
        SaveText {
            owner: SpillOwner { session: "session-1".parse().unwrap() },
            source: SpillSource {
                tool: "fetch".parse().unwrap(),
                call: "call".parse().unwrap(),
                label: "result".to_owned(),
            },
            suggested_name: "a.txt".to_owned(),
            content: "private".to_owned(),
        }
    }

    #[test]
    fn a_root_that_is_swapped_leads_nothing_astray() {
        let scratch = Scratch::new();
        let (at, moved, theirs) =
            (scratch.join("root"), scratch.join("moved"), scratch.join("theirs"));
        let root = Directory::open_or_make(&at).unwrap();
        fs_err::rename(&at, &moved).unwrap();
        fs_err::create_dir(&theirs).unwrap();
        symlink(&theirs, &at).unwrap();

        let error = write_in(&root, &text()).unwrap_err();
        assert!(matches!(error, SpillError::Unsafe { .. }), "{error:?}");
        let count = |path: &Utf8Path| fs_err::read_dir(path).unwrap().count();
        assert_eq!(count(&theirs), 0);
        assert_eq!(count(&moved.join(session_name(&text().owner.session))), 0, "it was removed");
    }

    #[test]
    fn a_slash_after_a_root_does_not_have_a_link_followed() {
        let scratch = Scratch::new();
        fs_err::create_dir(scratch.join("theirs")).unwrap();
        symlink(scratch.join("theirs"), scratch.join("root")).unwrap();
        for end in ["/", "//", "/."] {
            let store = LocalSpill::new(format!("{}{end}", scratch.join("root"))).unwrap();
            assert_eq!(store.root(), scratch.join("root"));
            let error = write(store.root(), &text()).unwrap_err();
            assert!(matches!(error, SpillError::Unsafe { .. }), "{error:?}");
        }
    }

    #[test]
    fn a_session_is_a_short_hash() {
        // printf %s session-1 | sha256sum
        assert_eq!(session_name(&"session-1".parse().unwrap()), "session-84097828fc31");
    }

    #[test]
    fn random_names_are_hex() {
        let (one, other) = (random_hex(), random_hex());
        assert_ne!(one, other);
        assert!(one.len() == 12 && one.bytes().all(|b| b.is_ascii_hexdigit()), "{one}");
    }

    #[test]
    fn roots_and_hints_are_checked() {
        let error = |result: Result<LocalSpill, LocalSpillError>| result.unwrap_err().to_string();
        let relative = error(LocalSpill::new("spill"));
        assert_eq!(relative, "the spill root must be an absolute path, not \"spill\"");
        let control = error(LocalSpill::new("/a\nb"));
        assert_eq!(control, "the spill root must not have control characters");
        let store = LocalSpill::new("/spill").unwrap();
        let empty = error(store.clone().with_hint(" "));
        assert_eq!(empty, "the retrieval hint must say something");
        let control = error(store.clone().with_hint("a\nb"));
        assert_eq!(control, "the retrieval hint must not have control characters");
        let private = LocalSpill::private_in("/tmp").unwrap();
        assert_eq!(private.root().as_str().len(), "/tmp/spill-0123456789ab".len());
        assert_eq!(store.max_reference_bytes("a.txt"), 6 + 21 + 14 + 5 + DEFAULT_HINT.len());
    }
}
