// A Timer that is stopped, and Sleep.
package main

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

func init() {
	works["timers.cancel"] = timersCancel
	works["timers.fire"] = timersFire
}

func timersCancel(round *Round) uint64 {
	inTime := uint64(0)
	for i := uint64(0); i < round.size; i++ {
		limit := time.NewTimer(time.Hour)
		runtime.Gosched()
		if limit.Stop() {
			inTime++
		}
	}
	return inTime
}

func timersFire(round *Round) uint64 {
	var fired atomic.Uint64
	var group sync.WaitGroup
	for i := uint64(0); i < round.size/5; i++ {
		group.Add(1)
		go func() {
			for i := 0; i < 5; i++ {
				time.Sleep(time.Millisecond)
				fired.Add(1)
			}
			group.Done()
		}()
	}
	group.Wait()
	return fired.Load()
}
