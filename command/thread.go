package command

import "runtime"

// useOneThread lets Go code run on one thread at a time until restore is called. In a world,
// one thing happens after another, so a second thread only costs time: it takes about half as
// long again, or twice as long.
func useOneThread() (restore func()) {
	threads := runtime.GOMAXPROCS(1)
	return func() { runtime.GOMAXPROCS(threads) }
}
