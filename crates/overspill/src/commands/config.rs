//! `overspill config`: the configuration that is in force.

use crate::config::Config;
use crate::exit;
use crate::home::{config_path, root};
use crate::terminal;

pub(crate) fn run() -> anyhow::Result<u8> {
    let root = root()?;
    let path = config_path(&root);
    let config = Config::load(&path)?;
    let from = if path.exists() { "from" } else { "defaults; to change them, write" };
    let toml = toml::to_string(&config)?;
    terminal::print_text(&format!("# {from} {path}\n# home: {root}\n\n{toml}"))?;
    Ok(exit::OK)
}
