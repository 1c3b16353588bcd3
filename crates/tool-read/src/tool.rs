//! The tool: its description, and the one place where artifacts and paths part.

use std::sync::Arc;

use artifacts::{ArtifactStore, PagePosition, PageRequest};
use async_trait::async_trait;
use output_contract::limits::MAX_TITLE_BYTES;
use output_contract::{Fields, OutputDeclaration, is_artifact_intent};
use serde_json::Value;
use tool_api::{OutputHandling, PrepareError, PreparedCall, Tool, ToolSpec};

use crate::arguments::{self, Arguments};
use crate::artifact::ArtifactCall;
use crate::call::ReadCall;
use crate::config::{ReadConfig, ReadConfigError};
use crate::filesystem::PathCall;

/// Reads pages of stored output, of text files and of directories, and attaches
/// images and PDFs.
///
/// `read(filePath, offset?, limit?, byteOffset?)`. A `filePath` that starts
/// with `artifact:`, in any letter case, is an artifact URI or an error; it
/// never reaches the file system. Everything else is a path.
#[derive(Debug)]
pub struct ReadTool {
    spec: ToolSpec,
    config: Arc<ReadConfig>,
    store: Arc<dyn ArtifactStore>,
}

impl ReadTool {
    /// A tool that reads artifacts of `store`, and paths.
    ///
    /// # Errors
    /// [`ReadConfigError`] names the field that is wrong.
    pub fn new(store: Arc<dyn ArtifactStore>, config: ReadConfig) -> Result<Self, ReadConfigError> {
        config.check()?;
        let spec = ToolSpec {
            name: config.name.clone(),
            description: DESCRIPTION.to_owned(),
            input_schema: arguments::schema(),
            output_schema: None,
            annotations: Fields::from([("readOnlyHint".to_owned(), Value::Bool(true))]),
            output: OutputDeclaration::Single,
            handling: OutputHandling::SelfPaginating,
            reads_artifacts: true,
        };
        Ok(Self { spec, config: Arc::new(config), store })
    }
}

const DESCRIPTION: &str = "\
Reads a text file, lists a directory, or reads stored tool output by its artifact:// URI, one page \
at a time.
- offset is the first line, counted from 0; limit is the number of lines, 2000 at most. Without limit \
the page has a moderate size.
- Where more remains, a note after the page gives the call that goes on. byteOffset goes on inside a \
long line.
- Lines of a file are shown with their number, counted from 1, and a tab; these are not part of the \
file. Stored output is shown as it is.
- artifact://<digest> is what a tool call printed; artifact://<digest>/<stream> is one of its streams, \
such as stdout. Use the URI exactly as it was given to you.
- A directory has one line an entry: name/ is a directory, name -> target a symbolic link.
- An image or a PDF is attached whole, up to 20 MiB. Other binary files are not read.";

#[async_trait]
impl Tool for ReadTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn prepare(&self, arguments: Value) -> Result<Box<dyn PreparedCall>, PrepareError> {
        let arguments = Arguments::decode(&self.config.name, arguments)?;
        let request = Request { config: Arc::clone(&self.config), arguments };
        // Before anything looks at it as a path.
        if is_artifact_intent(&request.arguments.file_path) {
            Ok(Box::new(ArtifactCall::prepare(Arc::clone(&self.store), request)?))
        } else {
            Ok(Box::new(PathCall::prepare(request).await?))
        }
    }
}

/// One call's arguments, and what they mean here.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) config: Arc<ReadConfig>,
    pub(crate) arguments: Arguments,
}

impl Request {
    /// The call that was made.
    pub(crate) fn call(&self) -> ReadCall<'_> {
        let Arguments { file_path, offset, limit, byte_offset } = &self.arguments;
        let position = PagePosition { offset: *offset, byte_offset: *byte_offset };
        ReadCall { tool: &self.config.name, file_path, position, limit: *limit }
    }

    /// The same call without a limit, whose page always fits into a result.
    pub(crate) fn without_limit(&self) -> ReadCall<'_> {
        ReadCall { limit: None, ..self.call() }
    }

    /// The page that is asked for.
    pub(crate) fn page(&self) -> PageRequest {
        PageRequest {
            offset: self.arguments.offset,
            limit: self.arguments.limit,
            byte_offset: self.arguments.byte_offset,
            page_bytes: self.config.page_bytes,
        }
    }

    /// A title for a person: what is read.
    pub(crate) fn title(&self) -> String {
        let path = &self.arguments.file_path;
        let end =
            (0..=path.len().min(MAX_TITLE_BYTES)).rev().find(|&end| path.is_char_boundary(end));
        path[..end.unwrap_or(0)].to_owned()
    }
}
