//! A call of this tool, written as a model would write it.
//!
//! Responsible for continuations and for the calls that error messages
//! propose: whatever is printed by it can be sent back as it is.

use std::fmt;

use artifacts::PagePosition;
use output_contract::ToolName;
use serde_json::Value;

/// Prints as `read(filePath="notes.txt", offset=200)`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReadCall<'a> {
    /// The tool, as the model knows it.
    pub(crate) tool: &'a ToolName,
    /// The path or URI, as it was given.
    pub(crate) file_path: &'a str,
    /// Where to begin.
    pub(crate) position: PagePosition,
    /// How many lines.
    pub(crate) limit: Option<u64>,
}

impl fmt::Display for ReadCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // As JSON, so that no character of a file name breaks out of the quotes.
        let file_path = Value::from(self.file_path);
        write!(f, "{}(filePath={file_path}, offset={}", self.tool, self.position.offset)?;
        if let Some(limit) = self.limit {
            write!(f, ", limit={limit}")?;
        }
        if self.position.byte_offset > 0 {
            write!(f, ", byteOffset={}", self.position.byte_offset)?;
        }
        f.write_str(")")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_shows_what_it_needs() {
        let tool = ToolName::new("read").unwrap();
        let call = |file_path, offset, byte_offset, limit| {
            let position = PagePosition { offset, byte_offset };
            ReadCall { tool: &tool, file_path, position, limit }.to_string()
        };
        assert_eq!(call("a", 0, 0, None), r#"read(filePath="a", offset=0)"#);
        assert_eq!(call("a", 7, 9, None), r#"read(filePath="a", offset=7, byteOffset=9)"#);
        assert_eq!(
            call("é\"\n\\", 7, 9, Some(3)),
            r#"read(filePath="é\"\n\\", offset=7, limit=3, byteOffset=9)"#
        );
    }
}
