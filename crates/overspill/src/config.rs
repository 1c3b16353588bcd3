//! `overspill.toml`: what may be configured, and its defaults.

use std::time::Duration;

use anyhow::{Context, bail};
use artifact_store::RetentionLimits;
use artifacts::{BlockingWork, Durability};
use camino::{Utf8Path, Utf8PathBuf};
use clap::ValueEnum;
use output_capture::CaptureLimits;
use output_contract::limits;
use output_retention::{Limits, Shape};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tool_runtime::{HintStyle, RuntimeConfig};

/// This program does one thing at a time: handing it to other threads would
/// only take longer.
pub(crate) const BLOCKING_WORK: BlockingWork = BlockingWork::InPlace;

/// The whole configuration. Every key has a default; an unknown one is an
/// error.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// What is shown of each stream.
    pub tool_output: ToolOutput,
    /// Pages.
    pub read: Read,
    /// What is stored of each call.
    pub capture: Capture,
    /// The store.
    pub store: Store,
    /// What is kept of the calls, and for how long.
    pub retention: Retention,
    /// Where a result goes that is too long for the model.
    pub spill: Spill,
}

/// `[tool_output]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ToolOutput {
    /// Most lines shown of each stream.
    pub max_lines: u64,
    /// Most bytes shown of each stream.
    pub max_bytes: u64,
    /// Which part is shown.
    pub shape: ShapeName,
}

/// `[read]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Read {
    /// Where a page without a limit ends, in bytes.
    pub page_bytes: u64,
}

/// `[capture]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Capture {
    /// Most bytes stored of one stream.
    pub max_stream_bytes: u64,
    /// Most bytes stored of all streams of a call.
    pub max_call_bytes: u64,
}

/// `[store]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Store {
    /// What a finished call survives.
    pub durability: DurabilityName,
    /// How long an output that nothing refers to is left alone.
    #[serde(serialize_with = "write_duration", deserialize_with = "read_duration")]
    pub grace: Duration,
    /// Whether the store may be on a network or FUSE file system.
    pub allow_network_fs: bool,
}

/// `[retention]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Retention {
    /// How long outputs are kept.
    #[serde(serialize_with = "write_duration", deserialize_with = "read_duration")]
    pub max_age: Duration,
    /// Most bytes that are kept of all outputs; the oldest go first.
    pub max_bytes: u64,
}

/// `[spill]`
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spill {
    /// What keeps the text.
    pub backend: SpillBackend,
    /// The directory of the backend `local`; without it, `spill` in the home.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<Utf8PathBuf>,
    /// Where the backend `object` is, such as `s3://bucket/prefix`.
    #[cfg(feature = "object")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Most bytes of a result that are shown inline. Without it nothing is
    /// registered, and only `[tool_output]` bounds what is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_inline_bytes: Option<u64>,
}

/// What keeps a text that is too long.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum SpillBackend {
    /// Private files, by session.
    #[default]
    Local,
    /// The store, as an artifact.
    Artifact,
    /// An object store, at the configured `url`.
    #[cfg(feature = "object")]
    Object,
}

/// `head` or `head-tail`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShapeName {
    /// The beginning.
    Head,
    /// The beginning and the end.
    HeadTail,
}

/// `durable` or `fast`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DurabilityName {
    /// A finished call survives a loss of power.
    Durable,
    /// A finished call survives the death of processes only.
    Fast,
}

impl Default for ToolOutput {
    fn default() -> Self {
        Self {
            max_lines: limits::DEFAULT_MAX_LINES,
            max_bytes: limits::DEFAULT_MAX_BYTES,
            shape: ShapeName::HeadTail,
        }
    }
}

impl Default for Read {
    fn default() -> Self {
        Self { page_bytes: limits::DEFAULT_PAGE_BYTES }
    }
}

impl Default for Capture {
    fn default() -> Self {
        Self {
            max_stream_bytes: limits::DEFAULT_MAX_STREAM_BYTES,
            max_call_bytes: limits::DEFAULT_MAX_CALL_BYTES,
        }
    }
}

impl Default for Store {
    fn default() -> Self {
        Self {
            durability: DurabilityName::Durable,
            grace: Duration::from_secs(limits::DEFAULT_STORE_GRACE_SECS),
            allow_network_fs: false,
        }
    }
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            max_age: Duration::from_secs(limits::DEFAULT_RETENTION_MAX_AGE_SECS),
            max_bytes: limits::DEFAULT_RETENTION_MAX_BYTES,
        }
    }
}

impl From<&Retention> for RetentionLimits {
    fn from(retention: &Retention) -> Self {
        Self { max_age: retention.max_age, max_bytes: retention.max_bytes }
    }
}

impl Config {
    /// Reads the file, where there is one.
    ///
    /// # Errors
    /// Where it cannot be read, is no TOML, has an unknown key, or a value is
    /// out of range.
    pub fn load(path: &Utf8Path) -> anyhow::Result<Self> {
        let text = match fs_err::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error.into()),
        };
        let config: Self =
            toml::from_str(&text).with_context(|| format!("invalid configuration {path}"))?;
        config.check().with_context(|| format!("invalid configuration {path}"))?;
        Ok(config)
    }

    fn check(&self) -> anyhow::Result<()> {
        Limits::new(self.tool_output.max_lines, self.tool_output.max_bytes, Shape::Head, 1)
            .context("[tool_output]")?;
        let (least, most) = (limits::MIN_PAGE_BYTES, limits::MAX_DEFAULT_PAGE_BYTES);
        if !(least..=most).contains(&self.read.page_bytes) {
            bail!("[read] page_bytes must be {least} to {most}, not {}", self.read.page_bytes);
        }
        for (key, value) in [
            ("max_stream_bytes", self.capture.max_stream_bytes),
            ("max_call_bytes", self.capture.max_call_bytes),
        ] {
            if value == 0 {
                bail!("[capture] {key} must be at least 1");
            }
        }
        if self.retention.max_age.is_zero() || self.retention.max_bytes == 0 {
            bail!("[retention] max_age and max_bytes must be more than 0");
        }
        if self.spill.max_inline_bytes == Some(0) {
            bail!("[spill] max_inline_bytes must be at least 1; leave it out to spill nothing");
        }
        if let Some(root) = self.spill.root.as_ref().filter(|root| !root.is_absolute()) {
            bail!("[spill] root must be an absolute path, not {root}");
        }
        Ok(())
    }

    /// What the runtime is configured with.
    pub fn runtime(&self, program: &str) -> RuntimeConfig {
        RuntimeConfig {
            max_lines: self.tool_output.max_lines,
            max_bytes: self.tool_output.max_bytes,
            shape: self.tool_output.shape.into(),
            capture: CaptureLimits {
                max_stream_bytes: self.capture.max_stream_bytes,
                max_call_bytes: self.capture.max_call_bytes,
            },
            hints: HintStyle::Command { program: program.to_owned() },
            blocking_work: BLOCKING_WORK,
            ..RuntimeConfig::default()
        }
    }
}

impl From<ShapeName> for Shape {
    fn from(name: ShapeName) -> Self {
        match name {
            ShapeName::Head => Self::Head,
            ShapeName::HeadTail => Self::HeadTail,
        }
    }
}

impl From<DurabilityName> for Durability {
    fn from(name: DurabilityName) -> Self {
        match name {
            DurabilityName::Durable => Self::Durable,
            DurabilityName::Fast => Self::Fast,
        }
    }
}

fn write_duration<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&humantime::format_duration(*duration))
}

fn read_duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    crate::cli::duration(&text).map_err(serde::de::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> anyhow::Result<Config> {
        let config: Config = toml::from_str(text)?;
        config.check()?;
        Ok(config)
    }

    #[test]
    fn the_default_prints_and_reads_back() {
        let printed = toml::to_string(&Config::default()).unwrap();
        assert_eq!(parse(&printed).unwrap(), Config::default());
        assert_eq!(parse("").unwrap(), Config::default());
        assert!(printed.contains("shape = \"head-tail\""), "{printed}");
        assert!(printed.contains("max_age = \"30days\""), "{printed}");
        assert!(
            printed.ends_with("[spill]\nbackend = \"local\"\n"),
            "nothing is spilled: {printed}"
        );
        assert!(printed.contains("grace = \"1h\""), "{printed}");
    }

    #[test]
    fn what_is_wrong_is_an_error() {
        for wrong in [
            "[tool_output]\nmax_lines = 0",
            "[tool_output]\nmax_bytes = 0",
            "[tool_output]\nmax_byte = 1",
            "[tool_output]\nshape = \"middle\"",
            "[read]\npage_bytes = 3",
            "[read]\npage_bytes = 524289",
            "[capture]\nmax_stream_bytes = 0",
            "[store]\ngrace = 5",
            "[retention]\nmax_age = \"0s\"",
            "[retention]\nmax_bytes = 0",
            "[spill]\nmax_inline_bytes = 0",
            "[spill]\nroot = \"spilled\"",
            "[spill]\nbackend = \"paper\"",
            "[stores]",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
