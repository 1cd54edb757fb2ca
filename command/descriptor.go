package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// maxLinks is the number of links that resolveDescriptor follows. Linux follows as many.
const maxLinks = 40

// resolveDescriptor returns the descriptor of this process that a name refers to, directly
// or by a link. isDescriptor is false if it refers to none. The shell decides what the
// descriptor is open for.
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
	return 0, false, fmt.Errorf("it leads through more than %d links; name the file itself", maxLinks)
}

// parseDescriptor returns the descriptor that a name is an alias of.
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

// standardFile returns one of the three standard files of a process, or nil for another
// number. These files must never be closed, so there is only one value for each.
func standardFile(number int) *os.File {
	if number > 2 {
		return nil
	}
	return []*os.File{os.Stdin, os.Stdout, os.Stderr}[number]
}
