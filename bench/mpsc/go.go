// A channel with room for 128.
package main

func init() {
	works["mpsc.1"] = func(round *Round) uint64 { return mpsc(round, 1) }
	works["mpsc.4"] = func(round *Round) uint64 { return mpsc(round, 4) }
}

func mpsc(round *Round, senders uint64) uint64 {
	channel := make(chan uint64, 128)
	for first := uint64(0); first < senders; first++ {
		go func(first, end uint64) {
			for i := first; i < end; i += senders {
				channel <- i
			}
		}(first, round.size)
	}
	sum := uint64(0)
	for i := uint64(0); i < round.size; i++ {
		sum += <-channel
	}
	return sum
}
