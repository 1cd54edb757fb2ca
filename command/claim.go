package command

import (
	"fmt"
	"os"
	"strings"
)

// A claimed file is in use by another process.
type claimed struct {
	// process is that process, as the operating system says; 0 if it does not say, as of
	// one on another machine or in another container.
	process int
}

// Error says who uses the file, and goes on after its name.
func (c claimed) Error() string {
	who := "another process"
	if c.process > 0 {
		who = fmt.Sprintf("process %d", c.process)
		if line := commandLine(c.process); line != "" {
			who += " (" + line + ")"
		}
	}
	return who + " is using it; try again when that has ended"
}

// commandLine is that of a process, if the system tells it.
func commandLine(process int) string {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", process))
	if err != nil {
		return ""
	}
	return strings.ReplaceAll(strings.TrimRight(string(line), "\x00"), "\x00", " ")
}
