//go:build !js

package libraries

// The locks on Consul are a module of their own, so that a test of one lock needs no other
// lock library. consul/api does not compile for js: go-metrics, which it requires, listens
// for a signal of Unix.
import _ "github.com/locksim/locksim/libraries/consul"
