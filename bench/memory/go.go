// Everybody waits for one channel to be closed.
package main

import (
	"runtime"
	"sync"
	"sync/atomic"
)

func init() { works["memory"] = memory }

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
