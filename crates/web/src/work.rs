//! Work that may wait for a disk, or take long: on threads of its own, and not much of it at once.

use super::answer::Refusal;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Answers that are worked out at the same time. The machine has something else to do.
const MOST: usize = 4;

/// Does what has to be worked out.
pub(super) struct Work {
    room: Arc<Semaphore>,
}

impl Default for Work {
    fn default() -> Work {
        Work { room: Arc::new(Semaphore::new(MOST)) }
    }
}

impl Work {
    /// Does it when there is room, while others are answered.
    pub(super) async fn when_there_is_room<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let place = Arc::clone(&self.room).acquire_owned().await.map_err(Refusal::failed)?;
        apart(move || {
            let done = work();
            host::process::give_back_memory();
            drop(place);
            done
        })
        .await
    }
}

/// Does at once what takes little.
pub(super) async fn apart<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    tokio::task::spawn_blocking(work).await.map_err(Refusal::failed)?
}
