//! A `web_fetch` tool: one page of the web as readable text.
//!
//! It shows what a tool with long results has to do beside its own work, which
//! is nothing: it finishes with its text, however long, and the runtime stores,
//! cuts or spills it. What it does bound is what it must hold itself: the
//! response in bytes, the text in characters, redirects and time
//! ([`FetchLimits`]), so that no server can fill the memory or take for ever.
//!
//! - `fetch`: the request, its redirects and the limits on the network.
//! - `document`: from bytes of a media type to text.
//! - `tool`: the tool and its arguments.
//!
//! Limitations: only `GET`, no cookies, no scripts. A redirect to another host
//! is not followed, because it is the host that was approved. Which addresses a
//! host's name leads to is not checked: an agent that must not reach private
//! networks says so in its approver, its resolver or its firewall.
//!
//! ```
//! use tool_api::Tool;
//! use web_fetch_example::{FetchLimits, WebFetch};
//!
//! let limits = FetchLimits { redirects: 2, ..FetchLimits::default() };
//! let tool = WebFetch::new(limits)?;
//! assert_eq!(tool.spec().name.as_str(), "web_fetch");
//! # Ok::<(), web_fetch_example::WebFetchError>(())
//! ```

mod document;
mod fetch;
mod limits;
mod tool;

pub use limits::FetchLimits;
pub use tool::{WebFetch, WebFetchError};
