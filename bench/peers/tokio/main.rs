//! Tokio in the flavour that suits the number of workers: the runtime of the current thread with one, else the multi-threaded one
//! with so many worker threads; and, under a second name, the multi-threaded one with one of them. The rounds run in a task, as
//! everything else does; what `block_on` is given only waits.
use round::Round;
use std::{future::Future, pin::Pin};
use tokio::runtime::{Builder, Runtime};

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
    ("memory", |round| Box::pin(memory::wait(round))),
    ("memory.sleep", |round| Box::pin(memory::sleep(round))),
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

/// Called by this name it is the multi-threaded runtime with one worker.
fn is_multi_on_one() -> bool {
    std::env::args().next().map_or(false, |name| name.ends_with("_tokio_multi"))
}

fn runtime_for(workers: u64) -> Runtime {
    let mut builder = if workers == 1 && !is_multi_on_one() {
        // A thread that sleeps: see bench/peers/bystander.hpp.
        std::thread::spawn(|| loop {
            std::thread::park();
        });
        Builder::new_current_thread()
    } else {
        let mut several = Builder::new_multi_thread();
        several.worker_threads(workers as usize);
        several
    };
    builder.enable_time().build().unwrap()
}

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
    if is_multi_on_one() && workers != 1 {
        std::process::exit(NOT_DONE);
    }
    let runtime = runtime_for(workers);
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
