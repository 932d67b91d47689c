//! timeout() for the timers that are not needed, sleep() for those that go off.
use crate::round::Round;
use std::time::Duration;
use tokio::{task::yield_now, time::sleep, time::timeout};

pub async fn cancel(round: &mut Round) -> u64 {
    let mut in_time = 0;
    for _ in 0..round.size {
        timeout(Duration::from_secs(3600), yield_now()).await.unwrap();
        in_time += 1;
    }
    in_time
}

pub async fn fire(round: &mut Round) -> u64 {
    let mut tasks = Vec::new();
    for _ in 0..round.size / 5 {
        tasks.push(tokio::spawn(async {
            let mut fired = 0;
            for _ in 0..5 {
                sleep(Duration::from_millis(1)).await;
                fired += 1;
            }
            fired
        }));
    }
    let mut fired = 0;
    for task in tasks {
        fired += task.await.unwrap();
    }
    fired
}
