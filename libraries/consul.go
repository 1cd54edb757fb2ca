//go:build !js

package libraries

// The locks on Consul are a module of their own, so that a test of one lock need not
// download the other lock libraries. They are left out for js, where consul/api does not
// compile: it requires go-metrics, which listens for a signal of Unix.
import _ "github.com/locksim/locksim/libraries/consul"
