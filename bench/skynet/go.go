// Children send their sums to a channel of their parent with room for all of them.
package main

func init() { works["skynet"] = skynet }

func skynetNode(first, leaves uint64, parent chan<- uint64) {
	if leaves == 1 {
		parent <- first
		return
	}
	sums := make(chan uint64, 10)
	each := leaves / 10
	for i := uint64(0); i < 10; i++ {
		go skynetNode(first+i*each, each, sums)
	}
	sum := uint64(0)
	for i := 0; i < 10; i++ {
		sum += <-sums
	}
	parent <- sum
}

func skynet(round *Round) uint64 {
	result := make(chan uint64, 1)
	go skynetNode(0, round.size, result)
	return <-result
}
