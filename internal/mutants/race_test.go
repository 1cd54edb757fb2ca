//go:build race

package mutants_test

// The race detector makes each world ten times as slow, and it need not check the locks of
// this package.
func init() { raced = true }
