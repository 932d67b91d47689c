// sync.Mutex, which goroutines can wait for.
package main

import "sync"

func init() { works["mutex"] = mutex }

func mutex(round *Round) uint64 {
	var lock sync.Mutex
	var group sync.WaitGroup
	number := uint64(0)
	group.Add(4)
	for i := 0; i < 4; i++ {
		go func(times uint64) {
			for i := uint64(0); i < times; i++ {
				lock.Lock()
				number++
				lock.Unlock()
			}
			group.Done()
		}(round.size / 4)
	}
	group.Wait()
	return number
}
