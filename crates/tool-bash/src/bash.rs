//! The `bash` tool: a command line of a model, run by a shell.
//!
//! Responsible for what the model is told and may ask for. Running it is
//! [`process`](crate::process)'s work.

mod arguments;

use std::ffi::OsString;
use std::time::Duration;

use async_trait::async_trait;
use camino::Utf8PathBuf;
use output_contract::{Fields, ToolName};
use serde_json::{Value, json};
use tool_api::{OutputHandling, PrepareError, PreparedCall, Tool, ToolSpec};

use crate::call::{ProcessCall, declaration};
use crate::process::ProcessSpec;
use arguments::Arguments;

/// The name of [`BashTool`].
pub const BASH_TOOL: &str = "bash";

/// How commands are run.
#[derive(Debug, Clone)]
pub struct BashConfig {
    /// The shell and its arguments; the command line is appended as one more.
    pub shell: Vec<OsString>,
    /// Where commands run; `None` is the current directory.
    pub cwd: Option<Utf8PathBuf>,
    /// Variables to set, or to unset where there is no value.
    pub env: Vec<(OsString, Option<OsString>)>,
    /// The timeout of a call that names none; `None` is none at all.
    pub default_timeout: Option<Duration>,
    /// The longest timeout that a call may name.
    pub max_timeout: Duration,
}

impl Default for BashConfig {
    /// `bash -c` in our directory and environment, for 120 s unless the call
    /// says otherwise, and for at most 600 s.
    fn default() -> Self {
        Self {
            shell: vec!["bash".into(), "-c".into()],
            cwd: None,
            env: Vec::new(),
            default_timeout: Some(Duration::from_secs(120)),
            max_timeout: Duration::from_secs(600),
        }
    }
}

/// Why a configuration is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BashConfigError {
    /// No word for the shell.
    #[error("the shell must name a program")]
    NoShell,
    /// A timeout that no call could use, or a default above the greatest.
    #[error(
        "timeouts are at least 1 ms, and the default {default:?} at most the greatest, {max:?}"
    )]
    Timeout {
        /// The default timeout.
        default: Option<Duration>,
        /// The longest timeout.
        max: Duration,
    },
}

/// The tool `bash`.
#[derive(Debug)]
pub struct BashTool {
    spec: ToolSpec,
    config: BashConfig,
}

impl BashTool {
    /// The tool, for these settings.
    ///
    /// # Errors
    /// [`BashConfigError`] where there is no shell, or a timeout is below 1 ms
    /// or the default above the greatest.
    pub fn new(config: BashConfig) -> Result<Self, BashConfigError> {
        if config.shell.first().is_none_or(|program| program.is_empty()) {
            return Err(BashConfigError::NoShell);
        }
        let (default, max) = (config.default_timeout, config.max_timeout);
        let allowed = Duration::from_millis(1)..=max;
        if !allowed.contains(&default.unwrap_or(max)) {
            return Err(BashConfigError::Timeout { default, max });
        }
        let spec = ToolSpec {
            name: ToolName::new(BASH_TOOL).expect("a valid name"),
            description: description(&config),
            input_schema: arguments::schema(&config),
            output_schema: None,
            annotations: Fields::from([
                ("readOnlyHint".to_owned(), json!(false)),
                ("destructiveHint".to_owned(), json!(true)),
                ("openWorldHint".to_owned(), json!(true)),
            ]),
            output: declaration(),
            handling: OutputHandling::Captured,
            reads_artifacts: false,
        };
        Ok(Self { spec, config })
    }

    /// The process that runs a command line.
    fn process(&self, arguments: &Arguments) -> ProcessSpec {
        let (program, words) = self.config.shell.split_first().expect("checked when it was made");
        let cwd = match (&self.config.cwd, &arguments.cwd) {
            (Some(base), Some(cwd)) => Some(base.join(cwd)),
            (base, cwd) => cwd.as_ref().or(base.as_ref()).cloned(),
        };
        ProcessSpec {
            cwd,
            env: self.config.env.clone(),
            timeout: arguments.timeout.or(self.config.default_timeout),
            ..ProcessSpec::new(program)
                .with_args(words)
                .with_args([OsString::from(&arguments.command)])
        }
    }
}

#[async_trait]
impl Tool for BashTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn prepare(&self, arguments: Value) -> Result<Box<dyn PreparedCall>, PrepareError> {
        let arguments = Arguments::decode(arguments, self.config.max_timeout)?;
        let process = self.process(&arguments);
        let call = ProcessCall::with_line(process, arguments.command);
        let description = arguments.description.map(|text| ("description".to_owned(), json!(text)));
        Ok(Box::new(call.with_metadata(description.into_iter().collect())))
    }
}

fn description(config: &BashConfig) -> String {
    let timeout = match config.default_timeout {
        Some(timeout) => format!("{timeout:?} unless `timeout` says otherwise"),
        None => "as long as it needs unless `timeout` is given".to_owned(),
    };
    format!(
        "Runs a command line in a new shell and returns what it writes to stdout and stderr, \
         and its exit code if that is not 0. Nothing is kept between calls: neither the \
         directory nor variables. Standard input is empty, and there is no terminal, so use \
         options that ask nothing. The command may run {timeout}; then it is ended with all \
         that it started. Long output need not be cut or sent to a file: all of it is stored, \
         and what is not shown can be read. A process that is to outlive the command must be \
         started in the background with its output redirected."
    )
}
