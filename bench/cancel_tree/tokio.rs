//! Every handle is aborted, then awaited.
use crate::round::Round;
use std::sync::{
    atomic::{AtomicU64, Ordering::Relaxed},
    Arc,
};
use tokio::{sync::Notify, task::yield_now};

static WAITING: AtomicU64 = AtomicU64::new(0);
static ENDED: AtomicU64 = AtomicU64::new(0);

struct End;

impl Drop for End {
    fn drop(&mut self) {
        ENDED.fetch_add(1, Relaxed);
    }
}

pub async fn run(round: &mut Round) -> u64 {
    WAITING.store(0, Relaxed);
    ENDED.store(0, Relaxed);
    let event = Arc::new(Notify::new());
    let mut tasks = Vec::with_capacity(round.size as usize);
    for _ in 0..round.size {
        let event = event.clone();
        tasks.push(tokio::spawn(async move {
            let _end = End;
            WAITING.fetch_add(1, Relaxed);
            event.notified().await;
        }));
    }
    while WAITING.load(Relaxed) < round.size {
        yield_now().await;
    }
    round.restart();
    for task in &tasks {
        task.abort();
    }
    for task in tasks {
        assert!(task.await.unwrap_err().is_cancelled());
    }
    ENDED.load(Relaxed)
}
