module github.com/locksim/locksim

go 1.26.0
