package libraries

// The locks on Consul are a module of their own, so that whoever tests one needs no other lock
// library.
import _ "github.com/locksim/locksim/libraries/consul"
