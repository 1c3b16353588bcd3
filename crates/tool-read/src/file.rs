//! Text files: pages with line numbers.

mod numbering;
mod text;

pub(crate) use self::numbering::numbered;
pub(crate) use self::text::TextFile;
