//! Tokio's bounded channel.
use crate::round::Round;
use tokio::sync::mpsc::channel;

async fn run(round: &mut Round, senders: u64) -> u64 {
    let count = round.size;
    let (sender, mut receiver) = channel::<u64>(128);
    let receiving = tokio::spawn(async move {
        let mut sum = 0;
        for _ in 0..count {
            sum += receiver.recv().await.unwrap();
        }
        sum
    });
    for first in 0..senders {
        let sender = sender.clone();
        tokio::spawn(async move {
            for i in (first..count).step_by(senders as usize) {
                sender.send(i).await.unwrap();
            }
        });
    }
    receiving.await.unwrap()
}

pub async fn one(round: &mut Round) -> u64 {
    run(round, 1).await
}

pub async fn four(round: &mut Round) -> u64 {
    run(round, 4).await
}
