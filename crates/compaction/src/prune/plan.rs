//! What becomes of each item of a window. Pure: it says what must be looked up
//! and stored, and is told what came of it.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;

use base64::Engine as _;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use output_contract::{ArtifactUri, Digest};
use output_retention::{Ended, PartLabel, Place, ReferencePart, is_pruned_output};

use super::PruneOptions;
use crate::item::{Body, InlinePart, Item, ItemView, OutputView, ResultView, StoredPart};
use crate::pairing::Pairs;
use crate::report::PruneReport;
use crate::retainer::Retained;

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// What becomes of an item.
#[derive(Debug)]
pub(super) enum Treatment {
    /// It is no result.
    Copy,
    /// Its output stays.
    LeaveAlone,
    /// Its output becomes the marker.
    Omit,
    /// Its output becomes a line.
    Refer(Draft),
}

/// A reference in the making.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) parts: Vec<ReferencePart>,
    pub(super) ended: Ended,
}

/// A part of a draft: the treatment, and the part in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slot {
    treatment: usize,
    part: usize,
}

/// What becomes of the items of one window.
#[derive(Debug, Default)]
pub(super) struct Plan<'a> {
    pub(super) treatments: Vec<Treatment>,
    digests: Vec<Digest>,
    /// The part that each of `digests` is of.
    stored: Vec<Slot>,
    /// What must be stored, and for which part.
    pub(super) inline: VecDeque<(Slot, Cow<'a, [u8]>)>,
}

impl<'a> Plan<'a> {
    /// Plans for `items[window]`.
    pub(super) fn of<I: Item>(
        items: &'a [I],
        pairs: &Pairs,
        window: Range<usize>,
        options: &PruneOptions,
    ) -> Self {
        let mut plan = Self::default();
        for index in window {
            let treatment = match items[index].view() {
                ItemView::Result(result) => {
                    let call = pairs.partner(index).map(|call| items[call].view());
                    let reads = call.is_some_and(|call| reads_an_artifact(&call, options));
                    plan.result(result, reads)
                }
                _ => Treatment::Copy,
            };
            plan.treatments.push(treatment);
        }
        plan
    }

    fn result(&mut self, result: ResultView<'a>, reads_an_artifact: bool) -> Treatment {
        let ResultView { ended, output, .. } = result;
        if output.text.is_some_and(is_pruned_output) {
            return Treatment::LeaveAlone;
        }
        if reads_an_artifact {
            return Treatment::Omit;
        }
        let treatment = self.treatments.len();
        let OutputView { stored, inline, .. } = output;
        let mut parts = Vec::with_capacity(stored.len() + inline.len());
        for part in stored {
            if let Some(uri) = part.uri.as_ref().filter(|_| part.bytes > 0) {
                self.digests.push(uri.digest);
                self.stored.push(Slot { treatment, part: parts.len() });
            }
            parts.push(stored_part(part));
        }
        for InlinePart { label, body } in inline {
            let bytes = match body {
                Body::Text(Cow::Borrowed(text)) => Cow::Borrowed(text.as_bytes()),
                Body::Text(Cow::Owned(text)) => Cow::Owned(text.into_bytes()),
                Body::Base64(text) => match BASE64.decode(text) {
                    Ok(bytes) => Cow::Owned(bytes),
                    Err(_) => Cow::Borrowed(text.as_bytes()),
                },
            };
            parts.push(ReferencePart {
                label: label.as_deref().and_then(PartLabel::new),
                bytes: bytes.len() as u64,
                lines: None,
                place: Place::Empty,
            });
            if !bytes.is_empty() {
                self.inline.push_back((Slot { treatment, part: parts.len() - 1 }, bytes));
            }
        }
        if parts.iter().all(|part| part.bytes == 0) {
            return Treatment::LeaveAlone;
        }
        Treatment::Refer(Draft { parts, ended })
    }

    /// What must be looked up.
    pub(super) fn digests(&self) -> &[Digest] {
        &self.digests
    }

    /// Takes in which of [`digests`](Self::digests) are stored.
    pub(super) fn settle_stored(&mut self, is_stored: &[bool], report: &mut PruneReport) {
        for (index, slot) in std::mem::take(&mut self.stored).into_iter().enumerate() {
            if !is_stored.get(index).copied().unwrap_or(false) {
                report.expired += 1;
                self.part(slot).place = Place::Expired;
            }
        }
    }

    /// Takes in what was stored for `slots`.
    pub(super) fn settle_retained(&mut self, slots: &[Slot], retained: &[Retained]) {
        for (slot, retained) in slots.iter().zip(retained) {
            let part = self.part(*slot);
            // What has a media type is counted in lines only where that is text.
            let is_media = part.label.as_ref().is_some_and(|label| label.as_str().contains('/'));
            part.lines = (!is_media).then_some(retained.lines);
            part.place = Place::Stored(ArtifactUri::bare(retained.digest));
        }
    }

    fn part(&mut self, slot: Slot) -> &mut ReferencePart {
        match &mut self.treatments[slot.treatment] {
            Treatment::Refer(draft) => &mut draft.parts[slot.part],
            _ => unreachable!("slots are made for drafts only"),
        }
    }
}

/// Whether a call reads an artifact: by the name of its tool and by its
/// arguments, and by nothing that it put out.
fn reads_an_artifact(call: &ItemView<'_>, options: &PruneOptions) -> bool {
    let ItemView::Call(call) = call else { return false };
    let is_reader = call.tool == "read" || call.tool == options.reader.as_str();
    is_reader && call.arguments.read_an_artifact()
}

fn stored_part(part: StoredPart<'_>) -> ReferencePart {
    let StoredPart { label, uri, bytes, lines } = part;
    let (lines, place) = match uri {
        _ if bytes == 0 => (None, Place::Empty),
        Some(uri) => (lines, Place::Stored(uri)),
        None => (None, Place::NotKept),
    };
    ReferencePart { label: label.and_then(PartLabel::new), bytes, lines, place }
}
