// Both calls send their number to a channel of their caller.
package main

func init() { works["fib"] = fib }

func fibCall(number uint64, caller chan<- uint64) {
	if number < 2 {
		caller <- number
		return
	}
	numbers := make(chan uint64, 2)
	go fibCall(number-1, numbers)
	go fibCall(number-2, numbers)
	caller <- <-numbers + <-numbers
}

func fib(round *Round) uint64 {
	result := make(chan uint64, 1)
	go fibCall(round.size, result)
	return <-result
}
