// A channel with room for 128; it takes as many receivers as one likes.
package main

func init() { works["mpmc"] = mpmc }

func mpmc(round *Round) uint64 {
	channel, sums := make(chan uint64, 128), make(chan uint64, 4)
	for i := 0; i < 4; i++ {
		go func(count uint64) {
			sum := uint64(0)
			for i := uint64(0); i < count; i++ {
				sum += <-channel
			}
			sums <- sum
		}(round.size / 4)
	}
	for first := uint64(0); first < 4; first++ {
		go func(first, end uint64) {
			for i := first; i < end; i += 4 {
				channel <- i
			}
		}(first, round.size)
	}
	return <-sums + <-sums + <-sums + <-sums
}
