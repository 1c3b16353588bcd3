//! Work that blocks, done where the configuration says.

use artifacts::BlockingWork;
use tokio::task::{JoinError, spawn_blocking};

/// Does `work`. An error is a panic of it on its thread, or the end of the
/// executor.
pub(crate) async fn blocking<T: Send + 'static>(
    place: BlockingWork,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JoinError> {
    match place {
        BlockingWork::OnThreads => spawn_blocking(work).await,
        BlockingWork::InPlace => Ok(work()),
    }
}
