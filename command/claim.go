package command

import (
	"fmt"
	"os"
	"strings"
)

// An inUseError is the error of a file that another process uses.
type inUseError struct {
	// process is the id of that process; 0 if the operating system does not give it, for
	// example because the process is on another machine or in another container.
	process int
}

// Error names the user of the file. The name of the file precedes it.
func (c inUseError) Error() string {
	who := "another process"
	if c.process > 0 {
		who = fmt.Sprintf("process %d", c.process)
		if line := commandLine(c.process); line != "" {
			who += " (" + line + ")"
		}
	}
	return who + " is using it; try again when that process has ended"
}

// commandLine returns the command line of a process, or "" if the system does not give it.
func commandLine(process int) string {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", process))
	if err != nil {
		return ""
	}
	return strings.ReplaceAll(strings.TrimRight(string(line), "\x00"), "\x00", " ")
}
