//! Which of what may survive does.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;

use camino::{Utf8Path, Utf8PathBuf};

use super::model::{Change, DirModel, Disk, Entry, FileModel};

/// The unit in which a medium takes data, in bytes.
const SECTOR: usize = 512;
/// The unit in which a file system finds place for data, in bytes.
const PAGE: usize = 4096;

/// What survives of what was not synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Survival {
    /// Nothing.
    Nothing,
    /// Everything: the process died and the system did not.
    Everything,
    /// Names, and no bytes.
    Names,
    /// Bytes, and no names.
    Bytes,
    /// Names and sizes, and zeros for bytes.
    Zeros,
    /// Each change or its beginning, or zeros in its place, by chance. The same
    /// number is the same chance.
    Chance(u64),
}

impl Survival {
    /// So many cases, others for another `seed`: nothing and everything, one
    /// between them, and then chance.
    pub fn samples(seed: u64, count: usize) -> impl Iterator<Item = Self> {
        let between = [Self::Names, Self::Zeros, Self::Bytes][(seed % 3) as usize];
        let clear = [Self::Nothing, Self::Everything, between].into_iter();
        clear.chain((0..).map(move |n| Self::Chance(seed << 16 | n))).take(count)
    }
}

/// Chance that can be repeated (splitmix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.roll() % limit as u64) as usize
    }
}

/// Makes what survives in the directory `into`.
pub(super) fn recall(disk: &Disk, survival: Survival, into: &Utf8Path) -> io::Result<()> {
    let seed = if let Survival::Chance(seed) = survival { seed } else { 0 };
    let mut recall =
        Recall { disk, survival, dice: Dice(seed), into: into.to_owned(), made: HashMap::new() };
    // Directories that survive less often than files show other things.
    recall.dice.roll();
    recall.dir(Utf8Path::new(""))
}

struct Recall<'a> {
    disk: &'a Disk,
    survival: Survival,
    dice: Dice,
    into: Utf8PathBuf,
    /// Where files are that have one name already.
    made: HashMap<usize, Utf8PathBuf>,
}

impl Recall<'_> {
    fn dir(&mut self, path: &Utf8Path) -> io::Result<()> {
        let entries = self.entries(&self.disk.dirs[path]);
        for (name, entry) in entries {
            let below = path.join(name);
            let real = self.into.join(&below);
            match entry {
                Entry::Dir => {
                    fs_err::create_dir(&real)?;
                    self.dir(&below)?;
                }
                Entry::File(file) => match self.made.get(&file) {
                    Some(made) => fs_err::hard_link(made, &real)?,
                    None => {
                        fs_err::write(&real, self.content(&self.disk.files[file]))?;
                        self.made.insert(file, real);
                    }
                },
            }
        }
        Ok(())
    }

    fn entries(&mut self, dir: &DirModel) -> BTreeMap<String, Entry> {
        let mut entries = dir.durable.clone();
        let mut lost = HashSet::new();
        let odds = 1 + self.dice.below(9);
        for change in &dir.pending {
            let kept = match self.survival {
                Survival::Nothing | Survival::Bytes => false,
                Survival::Everything | Survival::Names | Survival::Zeros => true,
                Survival::Chance(_) => self.dice.below(10) < odds,
            };
            if kept && !change.names().iter().any(|name| lost.contains(*name)) {
                change.apply(&mut entries);
            } else {
                lost.extend(change.names().into_iter().map(str::to_owned));
            }
        }
        entries
    }

    fn content(&mut self, file: &FileModel) -> Vec<u8> {
        let mut content = file.durable.to_vec();
        for change in &file.pending {
            match self.survival {
                Survival::Nothing | Survival::Names => {}
                Survival::Everything | Survival::Bytes => change.apply(&mut content),
                Survival::Zeros => zeroed(change, |_| true).apply(&mut content),
                Survival::Chance(_) => match self.dice.below(5) {
                    0 => {}
                    1 => self.beginning(change).apply(&mut content),
                    2 => {
                        let dice = &mut self.dice;
                        zeroed(change, |_| dice.below(2) == 0).apply(&mut content);
                    }
                    _ => change.apply(&mut content),
                },
            }
        }
        content
    }

    /// The first bytes of a write, or whole sectors of them.
    fn beginning(&mut self, change: &Change) -> Change {
        let Change::Write { at, bytes } = change else { return change.clone() };
        let length = self.dice.below(bytes.len() + 1);
        let length = if self.dice.below(2) == 0 { length } else { length / SECTOR * SECTOR };
        Change::Write { at: *at, bytes: bytes[..length].into() }
    }
}

/// A write of which some pages are zeros.
fn zeroed(change: &Change, mut chosen: impl FnMut(usize) -> bool) -> Change {
    let Change::Write { at, bytes } = change else { return change.clone() };
    let mut bytes = bytes.to_vec();
    for (page, content) in bytes.chunks_mut(PAGE).enumerate() {
        if chosen(page) {
            content.fill(0);
        }
    }
    Change::Write { at: *at, bytes: bytes.into() }
}
