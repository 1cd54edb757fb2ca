package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// maxLinks is how many symbolic links resolveDescriptor follows, one after the other. Linux
// follows as many.
const maxLinks = 40

// resolveDescriptor returns the number of the file descriptor that a name means, such as
// /dev/stdout or a link to it. isDescriptor is false if the name means no descriptor. The
// shell that started this process has opened the descriptor.
func resolveDescriptor(name string) (number int, isDescriptor bool, err error) {
	for range maxLinks {
		if n, isDescriptor := parseDescriptor(name); isDescriptor {
			return n, true, nil
		}
		to, err := os.Readlink(name)
		if err != nil {
			return 0, false, nil // other problems with the name are reported later
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(name), to)
		}
		name = to
	}
	return 0, false, fmt.Errorf("it is a chain of more than %d links; name the file itself", maxLinks)
}

// parseDescriptor returns the number of the file descriptor that a name means, without
// following links.
func parseDescriptor(name string) (int, bool) {
	name = filepath.ToSlash(filepath.Clean(name))
	switch name {
	case "/dev/stdin":
		return 0, true
	case "/dev/stdout":
		return 1, true
	case "/dev/stderr":
		return 2, true
	}
	for _, folder := range []string{"/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/", fmt.Sprintf("/proc/%d/fd/", os.Getpid())} {
		if text, hasPrefix := strings.CutPrefix(name, folder); hasPrefix {
			if n, err := strconv.ParseUint(text, 10, 16); err == nil {
				return int(n), true
			}
		}
	}
	return 0, false
}

// standardFile returns standard input, output or error for the numbers 0 to 2, and nil for
// any other number. It makes no new os.File, because when the garbage collector frees an
// os.File, it closes the descriptor.
func standardFile(number int) *os.File {
	if number > 2 {
		return nil
	}
	return []*os.File{os.Stdin, os.Stdout, os.Stderr}[number]
}
