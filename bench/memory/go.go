// Everybody waits for one channel to be closed, or sleeps until one instant.
package main

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

func init() {
	works["memory"] = memory
	works["memory.sleep"] = memorySleep
}

func memory(round *Round) uint64 {
	var waiting, woken atomic.Uint64
	var group sync.WaitGroup
	event := make(chan struct{})
	before := residentBytes()
	group.Add(int(round.size))
	for i := uint64(0); i < round.size; i++ {
		go func() {
			waiting.Add(1)
			<-event
			woken.Add(1)
			group.Done()
		}()
	}
	for waiting.Load() < round.size {
		runtime.Gosched()
	}
	round.measured(residentBytes() - before)
	close(event)
	group.Wait()
	return woken.Load()
}

func memorySleep(round *Round) uint64 {
	var waiting, woken atomic.Uint64
	var group sync.WaitGroup
	// Far enough: all are asleep before.
	wakeAt := time.Now().Add(100*time.Millisecond + time.Duration(round.size)*8*time.Microsecond)
	before := residentBytes()
	group.Add(int(round.size))
	for i := uint64(0); i < round.size; i++ {
		go func() {
			waiting.Add(1)
			time.Sleep(time.Until(wakeAt))
			woken.Add(1)
			group.Done()
		}()
	}
	for waiting.Load() < round.size {
		runtime.Gosched()
	}
	round.measured(residentBytes() - before)
	if !time.Now().Before(wakeAt) {
		return 0 // not all were asleep at once
	}
	group.Wait()
	return woken.Load()
}
