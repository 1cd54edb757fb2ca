package sim

import (
	"path"
	"slices"
	"strings"
)

// waitedMutex finds out whether a standstill has this cause: each of the goroutines to blame waits
// for a mutex, and another goroutine, which probably holds the mutex, waits for the network. If so,
// waitedMutex returns the package of one of the goroutines that wait for a mutex, and otherwise "".
// toBlame and all are the stacks of goroutines of one bubble.
//
// Nothing shows which goroutine holds a mutex, so waitedMutex looks for a possible owner. A
// possible owner has code of the same package on its stack. In the lock's own code, it also belongs
// to the same client, and is in I/O with a server. The goroutines of a library also wait for each
// other, so an owner with a library's code may be in any wait.
func waitedMutex(toBlame, all []string) string {
	first := ""
	creators := creatorsOf(all)
	for _, stack := range toBlame {
		head, frames, _ := strings.Cut(stack, "\n")
		if !strings.Contains(head, "[sync.Mutex.Lock") && !strings.Contains(head, "[sync.RWMutex.") {
			return ""
		}
		code, file := caller(frames)
		mayOwn := func(other string) bool {
			if other == stack || !slices.Contains(packagesOn(other), code) {
				return false
			}
			return isDependency(file) && !slices.Contains(toBlame, other) || isInIO(other) && creators.root(other) == creators.root(stack)
		}
		if code == "" || !slices.ContainsFunc(all, mayOwn) {
			return ""
		}
		if first == "" || code < first {
			first = code
		}
	}
	return first
}

// creators maps the number of each goroutine to the number of the goroutine that created it.
// The goroutines that the world has created, one for each client, are not in it.
type creators map[string]string

// creatorsOf reads the creators of goroutines from their stacks.
func creatorsOf(stacks []string) creators {
	of := creators{}
	for _, stack := range stacks {
		_, created, _ := strings.Cut(stack, "\ncreated by ")
		line, _, _ := strings.Cut(created, "\n")
		if function, creator, ok := strings.Cut(line, " in goroutine "); ok && !strings.HasSuffix(function, "sim.(*World).run") {
			of[numberOf(stack)] = creator
		}
	}
	return of
}

// root returns the number of the goroutine of the client from which a goroutine descends. If an
// ancestor has ended, root returns the number of that ancestor.
func (c creators) root(stack string) string {
	number := numberOf(stack)
	for c[number] != "" {
		number = c[number]
	}
	return number
}

// numberOf returns the number of a goroutine, from its stack.
func numberOf(stack string) string {
	number, _, _ := strings.Cut(strings.TrimPrefix(stack, "goroutine "), " ")
	return number
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

// isDependency reports whether a function's file belongs to a released module, by its path:
// such a path contains the module's version.
func isDependency(file string) bool {
	return strings.Contains(file, "@v") || strings.Contains(file, "/vendor/")
}

// caller returns the package and the file of the innermost function on a stack, except functions of
// package sync. Both are "" if there is no such function.
func caller(stack string) (code, file string) {
	rest := stack
	for rest != "" {
		var function string
		function, rest, _ = strings.Cut(rest, "\n")
		file, rest, _ = strings.Cut(rest, "\n")
		if p := packagesOn(function); len(p) == 1 && p[0] != "sync" && p[0] != "internal/sync" {
			return p[0], file
		}
	}
	return "", ""
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
