//! Calls of the tool, from arguments to completion.

use std::sync::Arc;

use artifacts::ArtifactStore;
use async_trait::async_trait;
use camino::{Utf8Path, Utf8PathBuf};
use output_contract::{CallId, Content, Delta, Fields, OutputDeclaration, SessionId, Status};
use serde_json::{Map, Value, json};
use tool_api::{
    CallContext, CancellationToken, Completion, NewAttachment, OutputHandling, OutputMode,
    OutputSink, PreparedCall, SinkBackend, SinkError, Tool,
};
use tool_read::{ReadConfig, ReadTool};

use crate::store::MemoryStore;

/// A tool over a store in memory.
#[derive(Debug)]
pub(crate) struct Reader {
    pub(crate) tool: ReadTool,
}

/// What a call ended with.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: Status,
    pub(crate) blocks: Vec<String>,
    pub(crate) display: Option<String>,
    pub(crate) metadata: Fields,
    pub(crate) attachments: Vec<NewAttachment>,
}

impl Reader {
    pub(crate) fn over(store: Arc<dyn ArtifactStore>, config: ReadConfig) -> Self {
        Self { tool: ReadTool::new(store, config).unwrap() }
    }

    /// Reads artifacts of `store`, with pages of `page_bytes`.
    pub(crate) fn of_artifacts(store: MemoryStore, page_bytes: u64) -> Self {
        let config = ReadConfig { page_bytes, ..ReadConfig::new("/nowhere") };
        Self::over(Arc::new(store), config)
    }

    /// Reads files below `cwd`.
    pub(crate) fn of_files(cwd: &Utf8Path) -> Self {
        Self::over(Arc::new(MemoryStore::new()), ReadConfig::new(cwd))
    }

    pub(crate) async fn prepare(&self, arguments: Value) -> Result<Box<dyn PreparedCall>, String> {
        self.tool.prepare(arguments).await.map_err(|error| error.to_string())
    }

    /// A call that ends, well or badly.
    pub(crate) async fn read(&self, arguments: Value) -> Answer {
        execute(self.prepare(arguments).await.unwrap(), CancellationToken::new()).await
    }

    /// The text of a call that fails.
    pub(crate) async fn failure(&self, arguments: Value) -> String {
        let answer = self.read(arguments).await;
        assert_eq!(answer.status, Status::Failed, "{}", answer.start());
        assert_eq!(answer.blocks.len(), 1);
        assert_eq!((&answer.metadata, &*answer.attachments), (&Fields::new(), &[][..]));
        assert_eq!(answer.display.as_ref(), answer.blocks.first());
        answer.blocks[0].clone()
    }

    /// All pages from the start, following the metadata.
    pub(crate) async fn chain(&self, file_path: &str, limit: Option<u64>) -> Vec<Answer> {
        let mut pages = Vec::new();
        let mut next = Some((0, 0));
        while let Some((offset, byte_offset)) = next {
            let arguments = json!({
                "filePath": file_path, "offset": offset, "limit": limit, "byteOffset": byte_offset,
            });
            let page = self.read(arguments).await;
            assert_eq!(page.status, Status::Completed, "{}", page.start());
            next = page.next();
            assert!(next.is_none_or(|next| next > (offset, byte_offset)), "no progress");
            pages.push(page);
        }
        pages
    }
}

impl Answer {
    pub(crate) fn page(&self) -> &str {
        &self.blocks[0]
    }

    /// The start of the page, for messages.
    pub(crate) fn start(&self) -> String {
        self.page().chars().take(500).collect()
    }

    pub(crate) fn number(&self, key: &str) -> Option<u64> {
        self.metadata.get(key).map(|value| value.as_u64().unwrap())
    }

    /// Where the metadata says that more is; the note must say the same.
    pub(crate) fn next(&self) -> Option<(u64, u64)> {
        let offset = self.number("nextOffset");
        assert_eq!(offset.is_some(), self.metadata.contains_key("nextByteOffset"));
        assert_eq!(offset.is_some(), self.blocks.len() == 2, "{:?}", self.blocks.get(1));
        let offset = offset?;
        let byte_offset = self.number("nextByteOffset").unwrap();
        let call = printed_call("read", &self.blocks[1]);
        assert_eq!(call["offset"], offset);
        assert_eq!(call.get("byteOffset"), (byte_offset > 0).then(|| json!(byte_offset)).as_ref());
        Some((offset, byte_offset))
    }

    /// Lines and bytes of the whole.
    pub(crate) fn totals(&self) -> (u64, u64) {
        (self.number("totalLines").unwrap(), self.number("totalBytes").unwrap())
    }
}

pub(crate) async fn execute(call: Box<dyn PreparedCall>, cancel: CancellationToken) -> Answer {
    let completion: Completion = call.execute(context(cancel)).await;
    let (status, display) = (completion.status, completion.display.clone());
    let metadata = completion.metadata().clone();
    let attachments = completion.attachments().to_vec();
    let OutputMode::Page(content) = completion.output.into_mode() else {
        panic!("a self-paginating tool ends with a page")
    };
    let text = |content: &Content| content.as_text().unwrap().to_owned();
    Answer { status, blocks: content.iter().map(text).collect(), display, metadata, attachments }
}

/// The arguments of the call of `tool` that `text` prints.
pub(crate) fn printed_call(tool: &str, text: &str) -> Value {
    let (_, call) = text.split_once(&format!("{tool}(filePath=")).unwrap();
    let mut json = serde_json::Deserializer::from_str(call).into_iter::<String>();
    let file_path = json.next().unwrap().unwrap();
    let (rest, _) = call[json.byte_offset()..].split_once(')').unwrap();
    let mut arguments = Map::from_iter([("filePath".to_owned(), file_path.into())]);
    for argument in rest.split(", ").skip(1) {
        let (name, number) = argument.split_once('=').unwrap();
        arguments.insert(name.to_owned(), number.parse::<u64>().unwrap().into());
    }
    arguments.into()
}

/// A directory for one test, with its links resolved.
pub(crate) fn scratch() -> (tempfile::TempDir, Utf8PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::try_from(fs_err::canonicalize(dir.path()).unwrap()).unwrap();
    (dir, path)
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn context(cancel: CancellationToken) -> CallContext {
    CallContext {
        session_id: SessionId::new("session").unwrap(),
        call_id: CallId::new("call").unwrap(),
        parent_call_id: None,
        sink: OutputSink::new(Arc::new(Nowhere), OutputHandling::SelfPaginating),
        cancel,
        spill: None,
    }
}

#[derive(Debug)]
struct Nowhere;

#[async_trait]
impl SinkBackend for Nowhere {
    fn declaration(&self) -> &OutputDeclaration {
        &OutputDeclaration::Single
    }

    async fn send(&self, _delta: Delta) -> Result<(), SinkError> {
        panic!("a page is not sent in pieces")
    }

    fn close(&self) {}

    fn abandon(&self) {
        panic!("the sink was dropped")
    }
}
