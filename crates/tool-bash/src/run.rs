//! The `run` tool: one process that its maker has fixed.
//!
//! Responsible for giving a program such as `overspill run`, whose user has
//! typed an argv, the same way through a runtime that a model's calls take.

use async_trait::async_trait;
use output_contract::ToolName;
use serde_json::{Value, json};
use tool_api::{OutputHandling, PrepareError, PreparedCall, Tool, ToolSpec};

use crate::call::{ProcessCall, declaration};
use crate::process::ProcessSpec;

/// The name of [`RunTool`].
pub const RUN_TOOL: &str = "run";

/// A tool that runs one given process. A model can choose nothing of it.
#[derive(Debug, Clone)]
pub struct RunTool {
    spec: ToolSpec,
    process: ProcessSpec,
}

impl RunTool {
    /// A tool named `run` for this process.
    pub fn new(process: ProcessSpec) -> Self {
        let spec = ToolSpec {
            name: ToolName::new(RUN_TOOL).expect("a valid name"),
            description: "Runs one program with its arguments, without a shell.".to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "argv": {"type": "array", "items": {"type": "string"}},
                    "cwd": {"type": "string"},
                    "timeout": {"type": "integer", "description": "in milliseconds"},
                },
                "required": ["argv"],
                "additionalProperties": false,
            }),
            output_schema: None,
            annotations: [("destructiveHint".to_owned(), json!(true))].into(),
            output: declaration(),
            handling: OutputHandling::Captured,
            reads_artifacts: false,
        };
        Self { spec, process }
    }

    /// What a person knows the process by: its command line.
    pub fn title(&self) -> String {
        ProcessCall::new(self.process.clone()).title()
    }

    /// The arguments to call it with. They are a record of the process for
    /// whoever reads the session; what is no UTF-8 is lossy in it.
    pub fn arguments(&self) -> Value {
        let process = &self.process;
        let argv: Vec<_> = [&process.program]
            .into_iter()
            .chain(&process.args)
            .map(|word| word.to_string_lossy())
            .collect();
        let mut arguments = json!({"argv": argv});
        if let Some(cwd) = &process.cwd {
            arguments["cwd"] = json!(cwd.as_str());
        }
        if let Some(timeout) = process.timeout {
            arguments["timeout"] = json!(u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX));
        }
        arguments
    }
}

#[async_trait]
impl Tool for RunTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn prepare(&self, arguments: Value) -> Result<Box<dyn PreparedCall>, PrepareError> {
        let expected = self.arguments();
        if arguments != expected {
            return Err(PrepareError::arguments(format!(
                "this tool runs one process only; call it with {expected}"
            )));
        }
        Ok(Box::new(ProcessCall::new(self.process.clone())))
    }
}
