//! `[spill]`, as plugins of a runtime.

use std::sync::Arc;

use anyhow::Context;
use artifacts::ArtifactStore;
use camino::Utf8Path;
use output_retention::Hints;
use spill::SpillStore;
use spill_artifact::ArtifactSpill;
use spill_local::LocalSpill;
#[cfg(feature = "object")]
use spill_object::ObjectSpill;
use spill_policy::{MaxInlineBytes, SpillPlugin};
use tool_api::{Plugin, PluginError, Registrar};

use crate::config::{Spill, SpillBackend};
use crate::home::{PROGRAM, now};

/// How a file is read by whoever has a shell.
const LOCAL_HINT: &str = "Read this file in parts, such as with sed -n '1,200p', or grep it.";

/// The backend and the policy, as configured. Without a cap it registers
/// nothing. It goes last, so that the policy sees what all others settled.
#[derive(Debug)]
pub(crate) struct Spilling(Option<Configured>);

#[derive(Debug)]
struct Configured {
    store: Arc<dyn SpillStore>,
    cap: MaxInlineBytes,
}

impl Spilling {
    /// What `config` says, for a home in `root` with its `store` of artifacts.
    ///
    /// # Errors
    /// Where the backend cannot be made of it.
    pub(crate) fn new(
        config: &Spill,
        root: &Utf8Path,
        store: &Arc<dyn ArtifactStore>,
        hints: &Hints,
    ) -> anyhow::Result<Self> {
        let Some(bytes) = config.max_inline_bytes else { return Ok(Self(None)) };
        let cap = MaxInlineBytes::new(usize::try_from(bytes).unwrap_or(usize::MAX))?;
        let store: Arc<dyn SpillStore> = match config.backend {
            SpillBackend::Local => {
                let root = config.root.clone().unwrap_or_else(|| root.join("spill"));
                let spill = LocalSpill::new(root).context("[spill] root")?;
                match hints {
                    Hints::Cli { .. } => Arc::new(spill.with_hint(LOCAL_HINT)?),
                    _ => Arc::new(spill),
                }
            }
            SpillBackend::Artifact => Arc::new(ArtifactSpill::new(Arc::clone(store), hints, now)),
            #[cfg(feature = "object")]
            SpillBackend::Object => {
                let url = config.url.as_deref();
                let url = url.context("[spill] url is not set; the backend object needs it")?;
                Arc::new(ObjectSpill::open(url, environment()).context("[spill] url")?)
            }
        };
        Ok(Self(Some(Configured { store, cap })))
    }
}

/// The hints of a command line, or of a tool.
pub(crate) fn hints(tool: bool) -> Hints {
    if tool {
        Hints::Tool { read_tool: "read".to_owned() }
    } else {
        Hints::Cli { program: PROGRAM.to_owned() }
    }
}

/// The variables that are text.
#[cfg(feature = "object")]
fn environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

impl Plugin for Spilling {
    fn install(&self, registrar: &mut Registrar) -> Result<(), PluginError> {
        let Some(Configured { store, cap }) = &self.0 else { return Ok(()) };
        registrar.spill_store(Arc::clone(store))?;
        SpillPlugin { max_inline_bytes: Some(*cap) }.install(registrar)
    }
}
