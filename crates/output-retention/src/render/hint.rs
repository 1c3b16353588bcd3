//! Hints: how to read what a truncated preview leaves out.
//!
//! Responsible for a line that works as printed with the reader that is in
//! fact offered, or that says honestly that there is none.

use output_contract::ArtifactUri;

use crate::preview::Position;
use crate::unit::json_escaped_len;

/// The reader that the model is offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hints {
    /// A tool: `read(filePath="artifact://…", offset=412)`.
    Tool {
        /// The name under which the `read` tool is offered.
        read_tool: String,
    },
    /// A program in a shell: `overspill read artifact://… --offset 412`.
    Cli {
        /// The program as it is to be typed, quoted where a shell needs it.
        program: String,
    },
    /// No reader.
    None,
}

impl Hints {
    /// The line under the head of a truncated stream, of which `omitted` bytes
    /// are not shown and which goes on at `next`.
    pub(super) fn line(
        &self,
        artifact: Option<&ArtifactUri>,
        next: Position,
        omitted: u64,
    ) -> String {
        let Position { line, byte_offset } = next;
        let Some(uri) = artifact else {
            return format!("[Truncated: {omitted} bytes not kept]");
        };
        match self {
            Self::Tool { read_tool } => {
                let inside = inside_line(", byteOffset=", byte_offset);
                format!(
                    "[Truncated. Read more: {read_tool}(filePath=\"{uri}\", offset={line}{inside})]"
                )
            }
            Self::Cli { program } => {
                let inside = inside_line(" --byte-offset ", byte_offset);
                format!("[Truncated. Read more: {program} read {uri} --offset {line}{inside}]")
            }
            Self::None => format!("[Truncated: {omitted} bytes not shown]"),
        }
    }

    /// How a whole artifact is read whose URI stands before it, in a sentence.
    pub fn artifact_in_words(&self) -> String {
        match self {
            Self::Tool { read_tool } => format!(
                "Use {read_tool} with this URI as filePath, offset and limit, and byteOffset \
                 inside long lines."
            ),
            Self::Cli { program } => format!(
                "Use `{program} read` with this URI, --offset and --limit, and --byte-offset \
                 inside long lines."
            ),
            Self::None => "No reader is offered for it.".to_owned(),
        }
    }

    /// Size of the reader's name inside a JSON string, in bytes.
    pub(super) fn reader_len(&self) -> usize {
        match self {
            Self::Tool { read_tool: name } | Self::Cli { program: name } => json_escaped_len(name),
            Self::None => 0,
        }
    }
}

fn inside_line(label: &str, byte_offset: u64) -> String {
    if byte_offset > 0 { format!("{label}{byte_offset}") } else { String::new() }
}
