//! `overspill read`: a page of a stored output.

use anyhow::{Context, anyhow, bail};
use artifacts::{ArtifactStore, Page, PageError, PageRequest, page};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use output_contract::{ArtifactUri, PageContent, PageRecord, is_artifact_intent};

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
    let page = page(&*reader, &request).await.map_err(|error| explained(error, &uri, &args))?;
    if args.json {
        terminal::print_json(&record(uri, &args, &page))?;
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
    let next = command(uri, next.offset, next.byte_offset, args.limit);
    Some(format!("[More remains ({totals}). Continue: {next}]"))
}

/// A command line that reads a page.
fn command(uri: &ArtifactUri, offset: u64, byte_offset: u64, limit: Option<u64>) -> String {
    let mut command = format!("{PROGRAM} read {uri} --offset {offset}");
    if byte_offset > 0 {
        command.push_str(&format!(" --byte-offset {byte_offset}"));
    }
    if let Some(limit) = limit {
        command.push_str(&format!(" --limit {limit}"));
    }
    command
}

/// Why there is no page, in the terms of the command line.
fn explained(error: PageError, uri: &ArtifactUri, args: &ReadArgs) -> anyhow::Error {
    match error {
        PageError::TooLarge { limit, max_bytes, suggestion, .. } => {
            let works = command(uri, suggestion.offset, suggestion.byte_offset, suggestion.limit);
            anyhow!("{limit} lines from here are more than {max_bytes} bytes; this works: {works}")
        }
        PageError::ByteOffsetPastLine { offset, line_bytes, .. } => {
            let wrong = args.byte_offset;
            anyhow!("line {offset} has {line_bytes} bytes; --byte-offset {wrong} is past its end")
        }
        error => anyhow::Error::new(error).context(format!("could not read {uri}")),
    }
}

fn record(uri: ArtifactUri, args: &ReadArgs, page: &Page) -> PageRecord {
    PageRecord {
        uri,
        offset: args.offset,
        byte_offset: args.byte_offset,
        content: match std::str::from_utf8(&page.bytes) {
            Ok(text) => PageContent::Text(text.to_owned()),
            Err(_) => PageContent::Base64(STANDARD.encode(&page.bytes)),
        },
        lines: page.lines,
        bytes: page.bytes.len() as u64,
        next_offset: page.next.map(|next| next.offset),
        next_byte_offset: page.next.map(|next| next.byte_offset),
        total_lines: page.total_lines,
        total_bytes: page.total_bytes,
    }
}
