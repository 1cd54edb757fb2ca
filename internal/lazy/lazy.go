// Package lazy compiles regular expressions when they are first used, to make programs
// start faster.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp returns a function that compiles a regular expression at its first call. That call
// panics if the expression is not valid.
func Regexp(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
