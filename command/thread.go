package command

import "runtime"

// useOneThread lets Go code run on one thread at a time until restore is called. In a world,
// one thing happens after another, so a second thread gains nothing, and to hand over between
// threads takes up to half of the time. BenchmarkFindWhy in package whatif measures it.
func useOneThread() (restore func()) {
	threads := runtime.GOMAXPROCS(1)
	return func() { runtime.GOMAXPROCS(threads) }
}
