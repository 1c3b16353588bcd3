//! The sink of a self-paginating tool: it takes a page and nothing before it.

use async_trait::async_trait;
use output_contract::{Delta, OutputDeclaration};
use tokio::sync::Notify;
use tool_api::{SinkBackend, SinkError};

#[derive(Debug, Default)]
pub(crate) struct PageSink {
    abandoned: Notify,
}

impl PageSink {
    pub(crate) async fn abandoned(&self) {
        self.abandoned.notified().await;
    }
}

#[async_trait]
impl SinkBackend for PageSink {
    fn declaration(&self) -> &OutputDeclaration {
        &OutputDeclaration::Single
    }

    async fn send(&self, _delta: Delta) -> Result<(), SinkError> {
        Err(SinkError::SelfPaginating)
    }

    fn close(&self) {}

    fn abandon(&self) {
        self.abandoned.notify_one();
    }
}
