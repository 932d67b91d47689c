//! Tasks wait in line for a Notify, or sleep until one instant; their handles are dropped at once.
use crate::round::{resident_bytes, Round};
use std::sync::{
    atomic::{AtomicU64, Ordering::Relaxed},
    Arc,
};
use std::time::Duration;
use tokio::{
    sync::Notify,
    task::yield_now,
    time::{sleep_until, Instant},
};

static WAITING: AtomicU64 = AtomicU64::new(0);
static WOKEN: AtomicU64 = AtomicU64::new(0);

pub async fn wait(round: &mut Round) -> u64 {
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

pub async fn sleep(round: &mut Round) -> u64 {
    // Far enough: all are asleep before.
    let wake_at = Instant::now() + Duration::from_micros(100_000 + 8 * round.size);
    let before = resident_bytes();
    for _ in 0..round.size {
        tokio::spawn(async move {
            WAITING.fetch_add(1, Relaxed);
            sleep_until(wake_at).await;
            WOKEN.fetch_add(1, Relaxed);
        });
    }
    while WAITING.load(Relaxed) < round.size {
        yield_now().await;
    }
    round.measured(resident_bytes() - before);
    if Instant::now() >= wake_at {
        return 0; // not all were asleep at once
    }
    while WOKEN.load(Relaxed) < round.size {
        sleep_until(wake_at.max(Instant::now() + Duration::from_millis(1))).await;
    }
    WOKEN.load(Relaxed)
}
