//! Tokio's own Mutex, the one that tasks can wait for.
use crate::round::Round;
use std::sync::Arc;
use tokio::sync::Mutex;

pub async fn run(round: &mut Round) -> u64 {
    let times = round.size / 4;
    let number = Arc::new(Mutex::new(0u64));
    let mut tasks = Vec::new();
    for _ in 0..4 {
        let number = number.clone();
        tasks.push(tokio::spawn(async move {
            for _ in 0..times {
                *number.lock().await += 1;
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    let number = *number.lock().await;
    number
}
