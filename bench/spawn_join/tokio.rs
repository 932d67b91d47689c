//! A vector of handles, awaited one after the other.
use crate::round::Round;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

static SUM: AtomicU64 = AtomicU64::new(0);

pub async fn run(round: &mut Round) -> u64 {
    SUM.store(0, Relaxed);
    let mut tasks = Vec::with_capacity(round.size as usize);
    for i in 0..round.size {
        tasks.push(tokio::spawn(async move {
            SUM.fetch_add(i, Relaxed);
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    SUM.load(Relaxed)
}
