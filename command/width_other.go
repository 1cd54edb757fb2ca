//go:build !unix && !windows

package command

import "os"

// terminalWidth returns 0: on this system nothing is known about terminals.
func terminalWidth(*os.File) int { return 0 }
