//! Ten tasks that give way to each other.
use crate::round::Round;

pub async fn run(round: &mut Round) -> u64 {
    let times = round.size / 10;
    let mut tasks = Vec::new();
    for _ in 0..10 {
        tasks.push(tokio::spawn(async move {
            for _ in 0..times {
                tokio::task::yield_now().await;
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
