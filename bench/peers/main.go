// Go with GOMAXPROCS set to the number of workers; the garbage collector runs as it does by default.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A Round is timed from its making to stop(): the time that passed, and the processor time of all threads.
type Round struct {
	size    uint64
	wallNs  uint64
	cpuNs   uint64
	since   time.Time
	cpuFrom uint64
	stopped bool
}

// What was done until here does not count.
func (round *Round) restart() {
	round.since = time.Now()
	round.cpuFrom = cpuTime()
}

// What was done up to here counts, and no more. A second time it does nothing.
func (round *Round) stop() {
	if !round.stopped {
		round.stopped = true
		round.wallNs = uint64(time.Since(round.since))
		round.cpuNs = cpuTime() - round.cpuFrom
	}
}

// What counts is this number, and not the time.
func (round *Round) measured(amount uint64) {
	round.stop()
	round.wallNs = amount
}

func cpuTime() uint64 {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		os.Exit(1)
	}
	return uint64(usage.Utime.Nano() + usage.Stime.Nano())
}

// The bytes of this process that are in memory.
func residentBytes() uint64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		os.Exit(1)
	}
	pages, _ := strconv.ParseUint(strings.Fields(string(text))[1], 10, 64)
	return pages * uint64(os.Getpagesize())
}

// What this contender does, by name; each file registers its own.
var works = map[string]func(*Round) uint64{}

const notDone = 77

func main() {
	if len(os.Args) != 6 {
		fmt.Fprintln(os.Stderr, "usage: WORKLOAD WORKERS SIZE ANSWER ROUNDS")
		os.Exit(2)
	}
	number := func(index int) uint64 {
		value, _ := strconv.ParseUint(os.Args[index], 10, 64)
		return value
	}
	work, answer := works[os.Args[1]], number(4)
	if work == nil {
		os.Exit(notDone)
	}
	runtime.GOMAXPROCS(int(number(2)))
	var wall, cpu []string
	for i := uint64(0); i < number(5); i++ {
		round := Round{size: number(3)}
		round.restart()
		given := work(&round)
		round.stop()
		if given != answer {
			fmt.Fprintln(os.Stderr, os.Args[1], "answers", given, "and not", answer)
			os.Exit(1)
		}
		wall = append(wall, strconv.FormatUint(round.wallNs, 10))
		cpu = append(cpu, strconv.FormatUint(round.cpuNs, 10))
	}
	fmt.Printf("{\"answer\": %d, \"ns\": [%s], \"cpu_ns\": [%s]}\n", answer, strings.Join(wall, ", "), strings.Join(cpu, ", "))
}
