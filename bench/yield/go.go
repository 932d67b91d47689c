// Ten goroutines that give way to each other.
package main

import (
	"runtime"
	"sync"
	"sync/atomic"
)

func init() { works["yield"] = yield }

func yield(round *Round) uint64 {
	var count atomic.Uint64
	var group sync.WaitGroup
	group.Add(10)
	for i := 0; i < 10; i++ {
		go func(times uint64) {
			for j := uint64(0); j < times; j++ {
				runtime.Gosched()
			}
			count.Add(times)
			group.Done()
		}(round.size / 10)
	}
	group.Wait()
	return count.Load()
}
