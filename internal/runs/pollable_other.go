//go:build !unix

package runs

import "io"

// pollable returns the input as it is. On these systems, reading from a pipe may block a
// thread.
func pollable(in io.Reader) io.Reader { return in }
