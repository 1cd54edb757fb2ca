package sim

import (
	"path"
	"runtime/debug"
	"slices"
	"strings"
)

// waitedMutex returns a package in which a goroutine waits for a mutex that another
// goroutine probably holds while it waits for the network, if each of the goroutines to
// blame for a standstill waits so. It returns "" otherwise. toBlame and all are the stacks
// of goroutines of one bubble.
//
// Nothing shows which goroutine holds a mutex. The owner has code of the same package on
// its stack. In the lock's own code it also has to be in I/O with a server. A library's
// goroutines wait for each other, too, so there it may be in any wait.
func waitedMutex(toBlame, all []string) string {
	code := ""
	for _, stack := range toBlame {
		head, frames, _ := strings.Cut(stack, "\n")
		if !strings.Contains(head, "[sync.Mutex.Lock") && !strings.Contains(head, "[sync.RWMutex.") {
			return ""
		}
		code = packageOfCaller(frames)
		mayOwn := func(other string) bool {
			return other != stack && slices.Contains(packagesOn(other), code) &&
				(isInIO(other) || isDependency(code) && !slices.Contains(toBlame, other))
		}
		if code == "" || !slices.ContainsFunc(all, mayOwn) {
			return ""
		}
	}
	return code
}

// bubbleOf returns the name of a goroutine's bubble, from its stack; "" if it has none.
func bubbleOf(stack string) string {
	head, _, _ := strings.Cut(stack, "\n")
	_, bubble, _ := strings.Cut(head, "synctest bubble ")
	return strings.TrimRight(bubble, "]:")
}

// isInIO reports whether a goroutine dials a simulated server, or reads from or writes to a
// connection with one.
func isInIO(stack string) bool {
	return slices.ContainsFunc([]string{"sim.(*process).dial(", "sim.(*socket).Read(", "sim.(*socket).Write("}, func(call string) bool {
		return strings.Contains(stack, call)
	})
}

// isDependency reports whether a package belongs to a module that the main module requires.
func isDependency(code string) bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.ContainsFunc(info.Deps, func(m *debug.Module) bool { return strings.HasPrefix(code+"/", m.Path+"/") })
}

// packageOfCaller returns the package of the innermost function on a stack that is not of
// package sync; "" if there is none.
func packageOfCaller(stack string) string {
	for _, p := range packagesOn(stack) {
		if p != "sync" && p != "internal/sync" {
			return p
		}
	}
	return ""
}

// packagesOn returns the package of each function on a goroutine's stack, the innermost
// first.
func packagesOn(stack string) (packages []string) {
	for line := range strings.Lines(stack) {
		if strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "goroutine ") || strings.HasPrefix(line, "created by ") {
			continue
		}
		folder, name := path.Split(line)
		name, _, _ = strings.Cut(name, ".")
		packages = append(packages, folder+name)
	}
	return packages
}
