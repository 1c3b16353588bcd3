//! Every number that more than one crate must agree on, with its unit.
//!
//! These are the fixed limits and the defaults of the configurable ones. A
//! configurable limit names its key in `overspill.toml`.

/// Most streams that one declaration may name.
pub const MAX_STREAMS: usize = 8;
/// Longest stream name, in bytes.
pub const MAX_STREAM_NAME_BYTES: usize = 64;
/// Most chunks in one delta: one for each stream.
pub const MAX_CHUNKS_PER_DELTA: usize = 8;
/// Largest chunk, in bytes. [`crate::split_text`] cuts longer text.
pub const MAX_CHUNK_BYTES: usize = 1024 * 1024;
/// Longest tool name, in bytes.
pub const MAX_TOOL_NAME_BYTES: usize = 128;
/// Longest session or call id, in bytes.
pub const MAX_ID_BYTES: usize = 256;

/// Longest display text of one delta, in bytes.
pub const MAX_DELTA_DISPLAY_BYTES: usize = 1024;
/// How much of the live display is kept, in bytes: always the newest.
pub const MAX_LIVE_DISPLAY_BYTES: usize = 64 * 1024;
/// Longest final display, in bytes.
pub const MAX_FINAL_DISPLAY_BYTES: usize = 64 * 1024;

/// Default of `[tool_output] max_lines`, per stream.
pub const DEFAULT_MAX_LINES: u64 = 2_000;
/// Default of `[tool_output] max_bytes`, per stream, in artifact bytes.
pub const DEFAULT_MAX_BYTES: u64 = 51_200;
/// Bytes kept aside for one stream's heading and hints, beside its content.
pub const STREAM_RESERVE_BYTES: usize = 512;
/// Largest text the model gets of one call, in bytes once JSON-escaped.
pub const MAX_MODEL_TEXT_BYTES: usize = 2 * 1024 * 1024;
/// Bytes of [`MAX_MODEL_TEXT_BYTES`] kept for headings, hints and status lines.
pub const MODEL_TEXT_RESERVE_BYTES: usize = 16 * 1024;

/// Default and greatest number of lines in one page of `read`.
pub const MAX_PAGE_LINES: u64 = 2_000;
/// Largest page that an explicit `limit` may ask for, in raw content bytes.
pub const MAX_PAGE_BYTES: u64 = 2 * 1024 * 1024;
/// Default of `[read] page_bytes`: where a page without a `limit` ends.
pub const DEFAULT_PAGE_BYTES: u64 = 102_400;
/// Smallest `[read] page_bytes`: one code point must fit.
pub const MIN_PAGE_BYTES: u64 = 4;
/// Largest `[read] page_bytes`: a page of this size fits a self-paginating
/// result whatever its bytes decode to (three bytes of text for one) and with
/// the numbers of its lines.
pub const MAX_DEFAULT_PAGE_BYTES: u64 = 512 * 1024;

/// Default of `[capture] max_stream_bytes`.
pub const DEFAULT_MAX_STREAM_BYTES: u64 = 256 * 1024 * 1024;
/// Default of `[capture] max_call_bytes`, over all streams of a call.
pub const DEFAULT_MAX_CALL_BYTES: u64 = 1024 * 1024 * 1024;
/// Bytes that may wait in one channel's queue before its producer waits.
pub const CHANNEL_QUEUE_BYTES: usize = 1024 * 1024;

/// Largest attachment, in bytes.
pub const MAX_ATTACHMENT_BYTES: usize = 20 * 1024 * 1024;
/// Most attachments of one call.
pub const MAX_ATTACHMENTS: usize = 16;
/// Largest structured value kept inside a saved event, in bytes of compact
/// JSON; a larger one is stored as an artifact.
pub const MAX_INLINE_STRUCTURED_BYTES: usize = 16 * 1024;
/// Most messages that one call may emit.
pub const MAX_EMITTED_MESSAGES: usize = 16;
/// Longest text of all emitted messages of one call together, in bytes.
pub const MAX_EMITTED_BYTES: usize = 256 * 1024;
/// Largest result of a self-paginating tool, in bytes.
pub const MAX_SELF_PAGINATING_BYTES: usize = 2 * 1024 * 1024;
/// What a self-paginating result may have beside that, in bytes: the note that
/// says how to continue, which may quote a long path.
pub const SELF_PAGINATING_NOTE_BYTES: usize = 32 * 1024;
/// Largest metadata of one result, in bytes of compact JSON.
pub const MAX_METADATA_BYTES: usize = 64 * 1024;
/// Longest title, in bytes.
pub const MAX_TITLE_BYTES: usize = 256;

/// Default of `[store] grace`: how long an unreferenced blob is left alone, in
/// seconds.
pub const DEFAULT_STORE_GRACE_SECS: u64 = 3_600;
/// Default of `[retention] max_age`: how long calls are kept, in seconds.
pub const DEFAULT_RETENTION_MAX_AGE_SECS: u64 = 30 * 24 * 3_600;
/// Default of `[retention] max_bytes`: what all calls together may keep.
pub const DEFAULT_RETENTION_MAX_BYTES: u64 = 20 * 1024 * 1024 * 1024;
/// How long a process may hold a pipe open after the command ended before the
/// capture ends without it, in milliseconds.
pub const PIPE_GRACE_MS: u64 = 1_000;
