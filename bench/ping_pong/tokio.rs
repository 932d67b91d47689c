//! Two bounded channels with room for one.
use crate::round::Round;
use tokio::sync::mpsc::channel;

pub async fn run(round: &mut Round) -> u64 {
    let times = round.size;
    let (there, mut there_out) = channel::<u64>(1);
    let (back, mut back_out) = channel::<u64>(1);
    let other = tokio::spawn(async move {
        for _ in 0..times {
            let number = there_out.recv().await.unwrap();
            back.send(number + 1).await.unwrap();
        }
    });
    let mut number = 0;
    for _ in 0..times {
        there.send(number).await.unwrap();
        number = back_out.recv().await.unwrap();
    }
    other.await.unwrap();
    number
}
