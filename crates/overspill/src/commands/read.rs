//! `overspill read`: a page of a stored output.

use anyhow::{Context, bail};
use artifacts::{ArtifactStore, Page, PageRequest, page};
use base64::Engine;
use output_contract::{ArtifactUri, is_artifact_intent};
use serde_json::{Value, json};

use crate::cli::ReadArgs;
use crate::exit;
use crate::home::{Home, PROGRAM};
use crate::terminal;

pub(crate) async fn run(args: ReadArgs) -> anyhow::Result<u8> {
    if !is_artifact_intent(&args.uri) {
        bail!(
            "{} is no artifact URI; this command reads artifact://<digest>[/<stream>], \
             as hints and `overspill show --json` give it",
            args.uri
        );
    }
    let uri = ArtifactUri::parse(&args.uri)
        .with_context(|| format!("malformed artifact URI {:?}", args.uri))?;
    let home = Home::open().await?;
    let reader = home.store.open(&uri).await.with_context(|| format!("could not read {uri}"))?;
    let request = PageRequest {
        offset: args.offset,
        byte_offset: args.byte_offset,
        limit: args.limit,
        page_bytes: home.config.read.page_bytes,
    };
    let page = page(&*reader, &request).await.with_context(|| format!("could not read {uri}"))?;
    if args.json {
        terminal::print_json(&page_json(&uri, &args, &page))?;
        return Ok(exit::OK);
    }
    terminal::print_bytes(&page.bytes)?;
    if let Some(note) = continuation(&uri, &args, &page) {
        terminal::note(&note);
    }
    Ok(exit::OK)
}

/// What to say on standard error: how to go on, or that there is nothing here.
fn continuation(uri: &ArtifactUri, args: &ReadArgs, page: &Page) -> Option<String> {
    let totals = format!("{} lines, {} bytes in all", page.total_lines, page.total_bytes);
    let Some(next) = &page.next else {
        let past_end = page.bytes.is_empty() && page.total_bytes > 0;
        return past_end.then(|| format!("[past the end: {totals}]"));
    };
    let mut command = format!("{PROGRAM} read {uri} --offset {}", next.offset);
    if next.byte_offset > 0 {
        command.push_str(&format!(" --byte-offset {}", next.byte_offset));
    }
    if let Some(limit) = args.limit {
        command.push_str(&format!(" --limit {limit}"));
    }
    Some(format!("[More remains ({totals}). Continue: {command}]"))
}

fn page_json(uri: &ArtifactUri, args: &ReadArgs, page: &Page) -> Value {
    let mut json = json!({
        "uri": uri,
        "offset": args.offset,
        "byteOffset": args.byte_offset,
        "lines": page.lines,
        "bytes": page.bytes.len(),
        "nextOffset": page.next.as_ref().map(|next| next.offset),
        "nextByteOffset": page.next.as_ref().map(|next| next.byte_offset),
        "totalLines": page.total_lines,
        "totalBytes": page.total_bytes,
    });
    match std::str::from_utf8(&page.bytes) {
        Ok(text) => json["text"] = text.into(),
        Err(_) => {
            let base64 = base64::engine::general_purpose::STANDARD.encode(&page.bytes);
            json["base64"] = base64.into();
        }
    }
    json
}
