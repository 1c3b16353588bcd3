//! The cap: how much of a result the model gets inline.

/// Most bytes of UTF-8 that a result may have inline, at least 1. A result of
/// exactly so many bytes is within it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MaxInlineBytes(usize);

/// Why a number is no cap.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CapError {
    /// Nothing could be shown at all.
    #[error("max_inline_bytes must be at least 1; leave it out to spill nothing")]
    Zero,
}

impl MaxInlineBytes {
    /// A cap, in bytes.
    ///
    /// # Errors
    /// [`CapError::Zero`].
    pub const fn new(bytes: usize) -> Result<Self, CapError> {
        if bytes == 0 { Err(CapError::Zero) } else { Ok(Self(bytes)) }
    }

    /// The cap, in bytes.
    pub const fn get(self) -> usize {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_is_no_cap() {
        let message = "max_inline_bytes must be at least 1; leave it out to spill nothing";
        assert_eq!(MaxInlineBytes::new(0).unwrap_err().to_string(), message);
        assert_eq!(MaxInlineBytes::new(1).unwrap().get(), 1);
    }
}
