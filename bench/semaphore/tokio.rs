//! Tokio's Semaphore: first come, first served.
use crate::round::Round;
use std::sync::Arc;
use tokio::{sync::Semaphore, task::yield_now};

pub async fn run(round: &mut Round) -> u64 {
    let times = round.size / 8;
    let permits = Arc::new(Semaphore::new(2));
    let mut tasks = Vec::new();
    for _ in 0..8 {
        let permits = permits.clone();
        tasks.push(tokio::spawn(async move {
            for _ in 0..times {
                let _permit = permits.acquire().await.unwrap();
                yield_now().await;
            }
            times
        }));
    }
    let mut count = 0;
    for task in tasks {
        count += task.await.unwrap();
    }
    count
}
