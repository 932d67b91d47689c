// A channel with room for two is Go's semaphore.
package main

import (
	"runtime"
	"sync"
	"sync/atomic"
)

func init() { works["semaphore"] = semaphore }

func semaphore(round *Round) uint64 {
	permits := make(chan struct{}, 2)
	var count atomic.Uint64
	var group sync.WaitGroup
	group.Add(8)
	for i := 0; i < 8; i++ {
		go func(times uint64) {
			for i := uint64(0); i < times; i++ {
				permits <- struct{}{}
				runtime.Gosched()
				<-permits
			}
			count.Add(times)
			group.Done()
		}(round.size / 8)
	}
	group.Wait()
	return count.Load()
}
