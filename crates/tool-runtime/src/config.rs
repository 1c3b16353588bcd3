//! What a runtime is configured with.

use std::time::Duration;

use artifacts::BlockingWork;
use output_capture::CaptureLimits;
use output_contract::limits::{DEFAULT_MAX_BYTES, DEFAULT_MAX_LINES};
use output_retention::{Hints, Limits, LimitsError, Shape};
use tool_api::ToolSpec;

/// The limits and habits of a runtime.
#[derive(Debug, Clone)]
pub struct RuntimeConfig {
    /// Most lines shown of one stream (`[tool_output] max_lines`).
    pub max_lines: u64,
    /// Most bytes shown of one stream (`[tool_output] max_bytes`).
    pub max_bytes: u64,
    /// Which part of a stream is shown (`[tool_output] shape`).
    pub shape: Shape,
    /// Caps on what is stored (`[capture]`).
    pub capture: CaptureLimits,
    /// The form of the hints.
    pub hints: HintStyle,
    /// How long a cancelled tool may take to end before it is dropped.
    pub cancel_grace: Duration,
    /// Where files are made and removed. A store and a journal are told of
    /// their own.
    pub blocking_work: BlockingWork,
}

impl Default for RuntimeConfig {
    fn default() -> Self {
        Self {
            max_lines: DEFAULT_MAX_LINES,
            max_bytes: DEFAULT_MAX_BYTES,
            shape: Shape::Head,
            capture: CaptureLimits::default(),
            hints: HintStyle::OfferedTool,
            cancel_grace: Duration::from_secs(5),
            blocking_work: BlockingWork::OnThreads,
        }
    }
}

impl RuntimeConfig {
    /// The preview limits of a call with this many streams.
    pub(crate) fn preview_limits(&self, streams: usize) -> Result<Limits, LimitsError> {
        Limits::new(self.max_lines, self.max_bytes, self.shape, streams)
    }
}

/// How a truncated preview says where the rest is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HintStyle {
    /// A call of the offered tool that reads artifacts, under its own name;
    /// without such a tool there is no hint.
    OfferedTool,
    /// A call of a tool that is offered elsewhere under this name.
    Tool {
        /// The tool's name, such as `read`.
        name: String,
    },
    /// A command line of this program.
    Command {
        /// The program, such as `overspill`.
        program: String,
    },
}

impl HintStyle {
    /// The hints for a call whose runtime is gone: what it offered is not
    /// known, and `read` is what the tool is called unless someone renames it.
    pub(crate) fn hints_unoffered(&self) -> Hints {
        match self {
            Self::OfferedTool => Hints::Tool { read_tool: "read".to_owned() },
            known => known.hints(std::iter::empty()),
        }
    }

    pub(crate) fn hints<'a>(&self, mut offered: impl Iterator<Item = &'a ToolSpec>) -> Hints {
        match self {
            Self::Tool { name } => Hints::Tool { read_tool: name.clone() },
            Self::Command { program } => Hints::Cli { program: program.clone() },
            Self::OfferedTool => match offered.find(|spec| spec.reads_artifacts) {
                Some(spec) => Hints::Tool { read_tool: spec.name.as_str().to_owned() },
                None => Hints::None,
            },
        }
    }
}
