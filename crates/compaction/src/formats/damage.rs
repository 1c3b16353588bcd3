//! What of a file is no whole record.

use std::fmt;

/// A stretch of a file that is out of order. Its bytes are written back as
/// they are; what follows it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Where it begins in the file, in bytes.
    pub position: u64,
    /// How long it is, in bytes.
    pub bytes: u64,
    /// The line it begins in; the first is 1.
    pub line: u64,
    /// What is the matter.
    pub reason: DamageReason,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { position, bytes, line, reason } = self;
        write!(f, "line {line}, {bytes} bytes from byte {position}: {reason}")
    }
}

/// What is the matter with a stretch of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DamageReason {
    /// A record that follows another without a line end or a comma. It was
    /// read.
    Glued,
    /// A record that ends too early.
    Torn,
    /// Text that is not JSON.
    NotJson,
    /// Bytes that are not UTF-8.
    NotUtf8,
}

impl DamageReason {
    /// Why `bytes` cannot be read.
    pub(super) fn of(bytes: &[u8], error: Option<&serde_json::Error>) -> Self {
        if str::from_utf8(bytes).is_err() {
            return Self::NotUtf8;
        }
        match error {
            Some(error) if error.is_eof() => Self::Torn,
            // The next record, or a line end, cuts off most torn ones.
            Some(_) if bytes.first() == Some(&b'{') => Self::Torn,
            _ => Self::NotJson,
        }
    }

    /// Whether nothing was lost by it.
    pub const fn was_read(self) -> bool {
        matches!(self, Self::Glued)
    }
}

impl fmt::Display for DamageReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Glued => "a record glued to the one before it, which was read",
            Self::Torn => "a torn record",
            Self::NotJson => "not JSON",
            Self::NotUtf8 => "not UTF-8",
        })
    }
}
