module github.com/locksim/locksim/playground

go 1.26.0

require (
	github.com/locksim/locksim v0.1.0
	github.com/locksim/locksim/libraries v0.1.0
)
