//go:build !unix

package command

import (
	"errors"
	"os"
)

// errNoDirectory is the operating system's error for a path that uses a file as a folder.
// This system has no such error.
var errNoDirectory = errors.New("not a directory")

// isDiscarded reports whether output to a file is lost. On this system nothing is known
// about that.
func isDiscarded(*os.File) bool { return false }

// checkDescriptor returns an error if a descriptor cannot be written to. On this system
// nothing is known about that.
func checkDescriptor(int) error { return nil }

// openDescriptor returns a standard file. This system has no other descriptors.
func openDescriptor(number int, _ string) (*os.File, error) {
	if f := standardFile(number); f != nil {
		return f, nil
	}
	return nil, errors.New("this system has no such file; name a file")
}
