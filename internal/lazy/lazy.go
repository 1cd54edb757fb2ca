// Package lazy makes things when they are first needed: a program that starts pays for none
// that its run does not use.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp is a regular expression that is compiled by the first call; one that is none panics
// then.
func Regexp(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
