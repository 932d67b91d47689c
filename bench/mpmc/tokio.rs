//! Tokio has no channel for many receivers; they share one behind a lock, as its documents show.
use crate::round::Round;
use std::sync::Arc;
use tokio::sync::{mpsc::channel, Mutex};

pub async fn run(round: &mut Round) -> u64 {
    let count = round.size;
    let (sender, receiver) = channel::<u64>(128);
    let receiver = Arc::new(Mutex::new(receiver));
    let mut receiving = Vec::new();
    for _ in 0..4 {
        let receiver = receiver.clone();
        receiving.push(tokio::spawn(async move {
            let mut sum = 0;
            for _ in 0..count / 4 {
                sum += receiver.lock().await.recv().await.unwrap();
            }
            sum
        }));
    }
    for first in 0..4 {
        let sender = sender.clone();
        tokio::spawn(async move {
            for i in (first..count).step_by(4) {
                sender.send(i).await.unwrap();
            }
        });
    }
    let mut sum = 0;
    for task in receiving {
        sum += task.await.unwrap();
    }
    sum
}
