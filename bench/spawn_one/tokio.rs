//! A handle is awaited as soon as its task was spawned.
use crate::round::Round;

pub async fn run(round: &mut Round) -> u64 {
    let mut sum = 0;
    for i in 0..round.size {
        sum += tokio::spawn(async move { i }).await.unwrap();
    }
    sum
}
