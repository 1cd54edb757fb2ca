//go:build !js

package main

// consul/api does not compile for js: go-metrics, which it requires, listens for a signal of Unix.
import _ "github.com/locksim/locksim/libraries/consul"
