// A context is cancelled, and everybody looks at it.
package main

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

func init() { works["cancel_tree"] = cancelTree }

func cancelTree(round *Round) uint64 {
	var waiting, ended atomic.Uint64
	var group sync.WaitGroup
	over, cancel := context.WithCancel(context.Background())
	group.Add(int(round.size))
	for i := uint64(0); i < round.size; i++ {
		go func() {
			defer group.Done()
			defer ended.Add(1)
			waiting.Add(1)
			<-over.Done()
		}()
	}
	for waiting.Load() < round.size {
		runtime.Gosched()
	}
	round.restart()
	cancel()
	group.Wait()
	return ended.Load()
}
