//! Tokio, always the multi-threaded runtime, with as many worker threads as are asked for.
//! The main thread only waits: the rounds run in a task, as everything else does.
use round::Round;
use std::{future::Future, pin::Pin};

mod round;

#[path = "../../cancel_tree/tokio.rs"]
mod cancel_tree;
#[path = "../../fib/tokio.rs"]
mod fib;
#[path = "../../memory/tokio.rs"]
mod memory;
#[path = "../../mpmc/tokio.rs"]
mod mpmc;
#[path = "../../mpsc/tokio.rs"]
mod mpsc;
#[path = "../../mutex/tokio.rs"]
mod mutex;
#[path = "../../ping_pong/tokio.rs"]
mod ping_pong;
#[path = "../../semaphore/tokio.rs"]
mod semaphore;
#[path = "../../skynet/tokio.rs"]
mod skynet;
#[path = "../../spawn_join/tokio.rs"]
mod spawn_join;
#[path = "../../spawn_one/tokio.rs"]
mod spawn_one;
#[path = "../../timers/tokio.rs"]
mod timers;
#[path = "../../yield/tokio.rs"]
mod yields;

type Answer<'a> = Pin<Box<dyn Future<Output = u64> + Send + 'a>>;
type Work = for<'a> fn(&'a mut Round) -> Answer<'a>;

const WORKS: &[(&str, Work)] = &[
    ("cancel_tree", |round| Box::pin(cancel_tree::run(round))),
    ("fib", |round| Box::pin(fib::run(round))),
    ("memory", |round| Box::pin(memory::run(round))),
    ("mpmc", |round| Box::pin(mpmc::run(round))),
    ("mpsc.1", |round| Box::pin(mpsc::one(round))),
    ("mpsc.4", |round| Box::pin(mpsc::four(round))),
    ("mutex", |round| Box::pin(mutex::run(round))),
    ("ping_pong", |round| Box::pin(ping_pong::run(round))),
    ("semaphore", |round| Box::pin(semaphore::run(round))),
    ("skynet", |round| Box::pin(skynet::run(round))),
    ("spawn_join", |round| Box::pin(spawn_join::run(round))),
    ("spawn_one", |round| Box::pin(spawn_one::run(round))),
    ("timers.cancel", |round| Box::pin(timers::cancel(round))),
    ("timers.fire", |round| Box::pin(timers::fire(round))),
    ("yield", |round| Box::pin(yields::run(round))),
];

const NOT_DONE: i32 = 77;

fn main() {
    let words: Vec<String> = std::env::args().collect();
    if words.len() != 6 {
        eprintln!("usage: WORKLOAD WORKERS SIZE ANSWER ROUNDS");
        std::process::exit(2);
    }
    let number = |index: usize| words[index].parse::<u64>().unwrap();
    let (workers, size, answer, rounds) = (number(2), number(3), number(4), number(5));
    let work = match WORKS.iter().find(|(name, _)| *name == words[1]) {
        Some((_, work)) => *work,
        None => std::process::exit(NOT_DONE),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers as usize)
        .enable_time()
        .build()
        .unwrap();
    let all = runtime.spawn(async move {
        let (mut wall, mut cpu) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            let mut round = Round::new(size);
            let given = work(&mut round).await;
            round.stop();
            if given != answer {
                eprintln!("answers {} and not {}", given, answer);
                std::process::exit(1);
            }
            wall.push(round.wall_ns);
            cpu.push(round.cpu_ns);
        }
        (wall, cpu)
    });
    let (wall, cpu) = runtime.block_on(all).unwrap();
    println!("{{\"answer\": {}, \"ns\": {:?}, \"cpu_ns\": {:?}}}", answer, wall, cpu);
}
