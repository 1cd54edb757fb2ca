//go:build !unix

package command

import (
	"errors"
	"os"
)

// errNoDirectory is the operating system's error of a path that leads through a file.
// Here it is none of its own.
var errNoDirectory = errors.New("not a directory")

// isNowhere reports whether what is written to a file is lost. Nobody knows here.
func isNowhere(*os.File) bool { return false }

// checkDescriptor says why nothing can be written to a descriptor. Nobody knows here.
func checkDescriptor(int) error { return nil }

// openDescriptor is a file that every process has. There are no others here.
func openDescriptor(number int, _ string) (*os.File, error) {
	if f := standardFile(number); f != nil {
		return f, nil
	}
	return nil, errors.New("this system has no such file; name a file")
}
