//go:build !unix

package command

import (
	"errors"
	"os"
)

// errNoDirectory is the error of the operating system for a path that leads through a file.
// This system has no such error.
var errNoDirectory = errors.New("not a directory")

// isDiscarded reports whether output to a file is lost. On this system that is not known.
func isDiscarded(*os.File) bool { return false }

// checkDescriptor returns why a descriptor cannot be written to. On this system that is not
// known.
func checkDescriptor(int) error { return nil }

// openDescriptor returns a standard file. This system has no other descriptors.
func openDescriptor(number int, _ string) (*os.File, error) {
	if f := standardFile(number); f != nil {
		return f, nil
	}
	return nil, errors.New("this system has no such file; name a file")
}
