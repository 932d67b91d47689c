//! One round, timed from its making to stop(): the time that passed, and the processor time of all threads.

pub struct Round {
    pub size: u64,
    pub wall_ns: u64,
    pub cpu_ns: u64,
    stopped: bool,
}

impl Round {
    pub fn new(size: u64) -> Round {
        let mut round = Round { size, wall_ns: 0, cpu_ns: 0, stopped: false };
        round.restart();
        round
    }

    /// What was done until here does not count.
    pub fn restart(&mut self) {
        self.wall_ns = read_clock(libc::CLOCK_MONOTONIC);
        self.cpu_ns = read_clock(libc::CLOCK_PROCESS_CPUTIME_ID);
    }

    /// What was done up to here counts, and no more. A second time it does nothing.
    pub fn stop(&mut self) {
        if !self.stopped {
            self.stopped = true;
            self.wall_ns = read_clock(libc::CLOCK_MONOTONIC) - self.wall_ns;
            self.cpu_ns = read_clock(libc::CLOCK_PROCESS_CPUTIME_ID) - self.cpu_ns;
        }
    }

    /// What counts is this number, and not the time.
    pub fn measured(&mut self, amount: u64) {
        self.stop();
        self.wall_ns = amount;
    }
}

fn read_clock(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Gives: the bytes of this process that are in memory.
pub fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = text.split(' ').nth(1).unwrap().parse().unwrap();
    pages * unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as u64
}
