//! What a tool says when its call ends.

use std::time::Duration;

use bytes::Bytes;
use output_contract::limits::{
    MAX_ATTACHMENT_BYTES, MAX_ATTACHMENTS, MAX_EMITTED_BYTES, MAX_EMITTED_MESSAGES,
    MAX_METADATA_BYTES,
};
use output_contract::{
    Content, EmittedMessage, Exit, Fields, IncompleteReason, Status, StreamName,
};
use serde_json::Value;

use crate::sink::Output;

/// The end of a call: its status and all that accompanies the output.
///
/// No display is an empty display, never the output. Limits are checked when
/// something is added, so that a completion that exists is valid.
#[derive(Debug)]
pub struct Completion {
    /// The finished output.
    pub output: Output,
    /// How the call ended.
    pub status: Status,
    /// How its process ended, where it had one.
    pub exit: Option<Exit>,
    /// The timeout that was in force.
    pub timeout: Option<Duration>,
    /// A title that replaces the one of the prepared call.
    pub title: Option<String>,
    /// What a person sees in the end; it replaces the live display.
    pub display: Option<String>,
    /// A structured value beside the content.
    pub structured: Option<Value>,
    /// What the tool knows of streams that are not whole.
    pub notes: Vec<StreamNote>,
    attachments: Vec<NewAttachment>,
    links: Vec<Content>,
    emitted: Vec<EmittedMessage>,
    metadata: Fields,
}

/// That a stream is not all that was produced, as only the tool can know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamNote {
    /// The stream; `None` is the single output.
    pub stream: Option<StreamName>,
    /// Why.
    pub reason: IncompleteReason,
}

impl Completion {
    /// A call that ended with `status`.
    pub fn new(output: Output, status: Status) -> Self {
        Self {
            output,
            status,
            exit: None,
            timeout: None,
            title: None,
            display: None,
            structured: None,
            notes: Vec::new(),
            attachments: Vec::new(),
            links: Vec::new(),
            emitted: Vec::new(),
            metadata: Fields::new(),
        }
    }

    /// A call that succeeded.
    pub fn completed(output: Output) -> Self {
        Self::new(output, Status::Completed)
    }

    /// A call that ended and reports an error.
    pub fn failed(output: Output) -> Self {
        Self::new(output, Status::Failed)
    }

    /// Sets the final display.
    #[must_use]
    pub fn with_display(mut self, display: impl Into<String>) -> Self {
        self.display = Some(display.into());
        self
    }

    /// Adds an attachment; they follow the text in order.
    ///
    /// # Errors
    /// [`CompletionError::TooManyAttachments`].
    pub fn attach(&mut self, attachment: NewAttachment) -> Result<(), CompletionError> {
        if self.attachments.len() == MAX_ATTACHMENTS {
            return Err(CompletionError::TooManyAttachments);
        }
        self.attachments.push(attachment);
        Ok(())
    }

    /// Adds a link; links follow the attachments in order.
    pub fn link(&mut self, link: Content) {
        self.links.push(link);
    }

    /// Adds a message that follows the result in the history.
    ///
    /// # Errors
    /// [`CompletionError::EmittedTooLarge`] where the messages are too many or
    /// too long together.
    pub fn emit(&mut self, message: EmittedMessage) -> Result<(), CompletionError> {
        let bytes = self.emitted.iter().map(|m| m.text.len()).sum::<usize>() + message.text.len();
        if self.emitted.len() == MAX_EMITTED_MESSAGES || bytes > MAX_EMITTED_BYTES {
            return Err(CompletionError::EmittedTooLarge {
                messages: self.emitted.len() + 1,
                bytes,
            });
        }
        self.emitted.push(message);
        Ok(())
    }

    /// Sets a field of the metadata.
    ///
    /// # Errors
    /// [`CompletionError::MetadataTooLarge`]; the field is not set then.
    pub fn set_metadata(
        &mut self,
        key: impl Into<String>,
        value: impl Into<Value>,
    ) -> Result<(), CompletionError> {
        let (key, value) = (key.into(), value.into());
        let others: usize = self
            .metadata
            .iter()
            .filter(|(other, _)| **other != key)
            .map(|(other, value)| field_bytes(other, value))
            .sum();
        let bytes = others + field_bytes(&key, &value);
        if bytes > MAX_METADATA_BYTES {
            return Err(CompletionError::MetadataTooLarge { bytes });
        }
        self.metadata.insert(key, value);
        Ok(())
    }

    /// The attachments, in order.
    pub fn attachments(&self) -> &[NewAttachment] {
        &self.attachments
    }

    /// The links, in order.
    pub fn links(&self) -> &[Content] {
        &self.links
    }

    /// The emitted messages, in order.
    pub fn emitted(&self) -> &[EmittedMessage] {
        &self.emitted
    }

    /// The metadata.
    pub fn metadata(&self) -> &Fields {
        &self.metadata
    }
}

fn field_bytes(key: &str, value: &Value) -> usize {
    key.len() + value.to_string().len()
}

/// Bytes of a media type that a tool hands over with its completion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAttachment {
    media_type: String,
    name: Option<String>,
    bytes: Bytes,
}

impl NewAttachment {
    /// Checks the size and keeps the bytes.
    ///
    /// # Errors
    /// [`CompletionError::AttachmentTooLarge`] above [`MAX_ATTACHMENT_BYTES`].
    pub fn new(
        media_type: impl Into<String>,
        name: Option<String>,
        bytes: impl Into<Bytes>,
    ) -> Result<Self, CompletionError> {
        let bytes = bytes.into();
        if bytes.len() > MAX_ATTACHMENT_BYTES {
            return Err(CompletionError::AttachmentTooLarge { bytes: bytes.len() });
        }
        Ok(Self { media_type: media_type.into(), name, bytes })
    }

    /// The media type.
    pub fn media_type(&self) -> &str {
        &self.media_type
    }

    /// A file name to show.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The bytes.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }
}

/// What a completion does not take.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompletionError {
    /// An attachment above [`MAX_ATTACHMENT_BYTES`].
    #[error("an attachment has at most {MAX_ATTACHMENT_BYTES} bytes, not {bytes}")]
    AttachmentTooLarge {
        /// Its size, in bytes.
        bytes: usize,
    },
    /// More than [`MAX_ATTACHMENTS`] attachments.
    #[error("a result has at most {MAX_ATTACHMENTS} attachments")]
    TooManyAttachments,
    /// Emitted messages that are too many or too long together.
    #[error(
        "a result emits at most {MAX_EMITTED_MESSAGES} messages of {MAX_EMITTED_BYTES} bytes together, \
         not {messages} of {bytes}"
    )]
    EmittedTooLarge {
        /// How many there would be.
        messages: usize,
        /// Their text together, in bytes.
        bytes: usize,
    },
    /// Metadata above [`MAX_METADATA_BYTES`].
    #[error("the metadata of a result has at most {MAX_METADATA_BYTES} bytes, not {bytes}")]
    MetadataTooLarge {
        /// Its size as compact JSON, in bytes.
        bytes: usize,
    },
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use async_trait::async_trait;
    use output_contract::{Delta, EmittedRole, OutputDeclaration};

    use super::*;
    use crate::{OutputHandling, OutputSink, SinkBackend, SinkError};

    #[derive(Debug)]
    struct Nowhere;

    #[async_trait]
    impl SinkBackend for Nowhere {
        fn declaration(&self) -> &OutputDeclaration {
            &OutputDeclaration::Single
        }

        async fn send(&self, _delta: Delta) -> Result<(), SinkError> {
            Ok(())
        }

        fn close(&self) {}

        fn abandon(&self) {}
    }

    fn completion() -> Completion {
        Completion::completed(OutputSink::new(Arc::new(Nowhere), OutputHandling::Captured).empty())
    }

    #[test]
    fn attachments_are_bounded_in_size_and_number() {
        let at = |bytes: usize| NewAttachment::new("image/png", None, vec![0; bytes]);
        assert!(at(MAX_ATTACHMENT_BYTES).is_ok());
        assert_eq!(
            at(MAX_ATTACHMENT_BYTES + 1),
            Err(CompletionError::AttachmentTooLarge { bytes: MAX_ATTACHMENT_BYTES + 1 })
        );
        let mut completion = completion();
        for _ in 0..MAX_ATTACHMENTS {
            completion.attach(at(1).unwrap()).unwrap();
        }
        assert_eq!(completion.attach(at(1).unwrap()), Err(CompletionError::TooManyAttachments));
    }

    #[test]
    fn emitted_messages_are_bounded_together() {
        let message = |bytes| EmittedMessage { role: EmittedRole::User, text: "x".repeat(bytes) };
        let mut long = completion();
        long.emit(message(MAX_EMITTED_BYTES)).unwrap();
        assert!(matches!(long.emit(message(1)), Err(CompletionError::EmittedTooLarge { .. })));
        assert_eq!(long.emitted().len(), 1);
        let mut many = completion();
        for _ in 0..MAX_EMITTED_MESSAGES {
            many.emit(message(1)).unwrap();
        }
        assert!(many.emit(message(1)).is_err());
    }

    #[test]
    fn metadata_is_bounded_and_replaced_by_key() {
        let mut completion = completion();
        completion.set_metadata("a", "x".repeat(MAX_METADATA_BYTES - 10)).unwrap();
        assert!(completion.set_metadata("b", "0123456789").is_err());
        completion.set_metadata("a", 1).unwrap();
        completion.set_metadata("b", "0123456789").unwrap();
        assert_eq!(completion.metadata().len(), 2);
    }
}
