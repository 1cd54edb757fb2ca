module github.com/locksim/locksim/libraries/pglock

go 1.26.0
