package command

import (
	"fmt"
	"os"
	"strings"
)

// An inUseError says that another process uses a file.
type inUseError struct {
	// process is the ID of that process. It is 0 if the operating system does not give it,
	// for example because the process is on another machine or in another container.
	process int
}

// Error says which process uses the file. The caller puts the file's name before it.
func (e inUseError) Error() string {
	holder := "another process"
	if e.process > 0 {
		holder = fmt.Sprintf("process %d", e.process)
		if line := commandLine(e.process); line != "" {
			holder += " (" + line + ")"
		}
	}
	return holder + " is using it; try again when that process has ended"
}

// commandLine returns the command line of a process; "" if the system does not give it.
func commandLine(process int) string {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", process))
	if err != nil {
		return ""
	}
	return strings.ReplaceAll(strings.TrimRight(string(line), "\x00"), "\x00", " ")
}
