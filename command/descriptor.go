package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// mostLinks is how many links descriptorOf follows: as many as Linux does.
const mostLinks = 40

// descriptorOf is the descriptor of this process that a name stands for, if it stands
// for one, directly or by a link: what that was opened to, and how, is the shell's
// business.
func descriptorOf(name string) (number int, is bool, err error) {
	for range mostLinks {
		if n, is := descriptorNumber(name); is {
			return n, true, nil
		}
		to, err := os.Readlink(name)
		if err != nil {
			return 0, false, nil // what else is wrong with it is found later
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(name), to)
		}
		name = to
	}
	return 0, false, fmt.Errorf("it is one of more than %d links; name the file itself", mostLinks)
}

// descriptorNumber is the descriptor that a name is an alias of.
func descriptorNumber(name string) (int, bool) {
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
		if text, is := strings.CutPrefix(name, folder); is {
			if n, err := strconv.ParseUint(text, 10, 16); err == nil {
				return int(n), true
			}
		}
	}
	return 0, false
}

// standardFile is one of the three files that every process has; nil for another number.
// Those must never be closed, so there is one of each.
func standardFile(number int) *os.File {
	if number > 2 {
		return nil
	}
	return []*os.File{os.Stdin, os.Stdout, os.Stderr}[number]
}
