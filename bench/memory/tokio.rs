//! Tasks wait in line for a Notify; their handles are dropped at once.
use crate::round::{resident_bytes, Round};
use std::sync::{
    atomic::{AtomicU64, Ordering::Relaxed},
    Arc,
};
use tokio::{sync::Notify, task::yield_now};

static WAITING: AtomicU64 = AtomicU64::new(0);
static WOKEN: AtomicU64 = AtomicU64::new(0);

pub async fn run(round: &mut Round) -> u64 {
    let event = Arc::new(Notify::new());
    let before = resident_bytes();
    for _ in 0..round.size {
        let event = event.clone();
        tokio::spawn(async move {
            WAITING.fetch_add(1, Relaxed);
            event.notified().await;
            WOKEN.fetch_add(1, Relaxed);
        });
    }
    while WAITING.load(Relaxed) < round.size {
        yield_now().await;
    }
    round.measured(resident_bytes() - before);
    event.notify_waiters();
    while WOKEN.load(Relaxed) < round.size {
        yield_now().await;
    }
    WOKEN.load(Relaxed)
}
