//go:build race

package mutants_test

// The race detector makes each world ten times as slow, and the locks of this
// package are not what it should look at.
func init() { raced = true }
