// A WaitGroup is the join.
package main

import (
	"sync"
	"sync/atomic"
)

func init() { works["spawn_join"] = spawnJoin }

func spawnJoin(round *Round) uint64 {
	var sum atomic.Uint64
	var group sync.WaitGroup
	group.Add(int(round.size))
	for i := uint64(0); i < round.size; i++ {
		go func(number uint64) {
			sum.Add(number)
			group.Done()
		}(i)
	}
	group.Wait()
	return sum.Load()
}
