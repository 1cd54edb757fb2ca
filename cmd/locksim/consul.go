//go:build !js

package main

// consul/api does not compile for js, because its dependency go-metrics listens for a Unix
// signal.
import _ "github.com/locksim/locksim/libraries/consul"
