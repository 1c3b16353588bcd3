//! Previews of texts as streams, with their artifacts; and their search.

use output_contract::{ArtifactUri, Digest, Status, StreamName};
use output_retention::{Ending, Hints, Limits, Preview, Shape};
use proptest::prelude::*;
use spill_policy::{MaxInlineBytes, SpillPolicy};
use tool_api::{
    CallInfo, CallPreview, OutputHandling, PostExecute as _, Presentation, PreviewStream, Registrar,
};

use crate::log::logged;

pub(crate) fn preview_of(texts: &[&str], ending: Ending) -> CallPreview {
    preview(texts, ending, Limits::new(2_000, 51_200, Shape::Head, texts.len()).unwrap())
}

fn preview(texts: &[&str], ending: Ending, limits: Limits) -> CallPreview {
    let streams = texts.iter().enumerate().map(|(number, text)| {
        let name: StreamName = format!("stream-{number}").parse().unwrap();
        let preview = Preview::of(text.as_bytes(), limits);
        match texts.len() {
            1 => PreviewStream {
                name: None,
                preview,
                artifact: Some(ArtifactUri::bare(Digest::EMPTY)),
            },
            _ => {
                let artifact = Some(ArtifactUri::stream(Digest::EMPTY, name.clone()));
                PreviewStream { name: Some(name), preview, artifact }
            }
        }
    });
    let hints = Hints::Tool { read_tool: "read".to_owned() };
    CallPreview { streams: streams.collect(), limits, ending, hints, accompanied: false }
}

pub(crate) fn rendered(preview: &CallPreview) -> String {
    preview.render(&preview.limits).text
}

proptest! {
    #[test]
    fn a_preview_is_within_the_cap_or_as_it_was(
        texts in prop::collection::vec("([a-z€😀\0]{0,60}\n?){0,12}", 1..4),
        cap in 1_usize..1_500,
        max_bytes in 1_u64..2_000,
        head_tail: bool,
    ) {
        let shape = if head_tail { Shape::HeadTail } else { Shape::Head };
        let limits = Limits::new(2_000, max_bytes, shape, texts.len()).unwrap();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let before = preview(&texts, Ending::of(Status::Failed), limits);
        let policy =
            SpillPolicy::new(MaxInlineBytes::new(cap).unwrap(), Registrar::new().spill());
        let call = CallInfo {
            session_id: "session".parse().unwrap(),
            call_id: "call".parse().unwrap(),
            parent_call_id: None,
            tool: "fetch".parse().unwrap(),
            handling: OutputHandling::Captured,
        };
        let applied = policy.apply(&call, Presentation::Preview(before.clone()));
        let (Presentation::Preview(after), log) = logged(applied) else {
            panic!("a preview stays one")
        };
        let text = rendered(&after);
        prop_assert_eq!(text.len() > cap, !log.is_empty());
        if text.len() > cap {
            prop_assert_eq!(text, rendered(&before));
        } else {
            prop_assert!(text.ends_with("[failed]"));
        }
        if rendered(&before).len() <= cap {
            prop_assert_eq!(after.limits, before.limits);
        }
    }
}
