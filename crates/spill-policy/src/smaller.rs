//! Previews rendered smaller, until they fit.

use output_retention::Limits;
use tool_api::{CallInfo, CallPreview};

use crate::cap::MaxInlineBytes;

/// The preview with the greatest `max_bytes` whose rendering is within `cap`;
/// as it is, and a reason logged, where the smallest is not.
pub(crate) fn smaller(preview: CallPreview, cap: MaxInlineBytes, call: &CallInfo) -> CallPreview {
    let fits = |limits: &Limits| preview.render(limits).text.len() <= cap.get();
    if fits(&preview.limits) {
        return preview;
    }
    match search(&preview, fits) {
        Some(limits) => CallPreview { limits, ..preview },
        None => {
            tracing::warn!(
                reason = "not even the smallest preview fits",
                tool = %call.tool,
                call = %call.call_id,
                cap = cap.get(),
                "a preview over the cap cannot be made smaller"
            );
            preview
        }
    }
}

/// Halves the range in which the greatest limit that fits is. A rendering may
/// shrink by a few bytes where its limit grows, as a count loses a digit or a
/// hint its `byteOffset`: then the limit found is not quite the greatest, and
/// still fits.
fn search(preview: &CallPreview, fits: impl Fn(&Limits) -> bool) -> Option<Limits> {
    let (mut found, mut least, mut most) = (None, 1, preview.limits.max_bytes() - 1);
    while least <= most {
        let middle = least + (most - least) / 2;
        let limits = with_max_bytes(preview, middle);
        if fits(&limits) {
            found = Some(limits);
            least = middle + 1;
        } else {
            most = middle - 1;
        }
    }
    found
}

/// The limits in force, but for `max_bytes`, which is at least 1.
fn with_max_bytes(preview: &CallPreview, max_bytes: u64) -> Limits {
    let limits = &preview.limits;
    Limits::new(limits.max_lines(), max_bytes, limits.shape(), preview.streams.len())
        .expect("neither limit is 0")
        .with_max_escaped_bytes_at_most(limits.max_escaped_bytes())
}
