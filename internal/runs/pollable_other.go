//go:build !unix

package runs

import "io"

// pollable returns the input as it is: here reading from a pipe may block a thread.
func pollable(in io.Reader) io.Reader { return in }
