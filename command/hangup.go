//go:build !js

package command

import (
	"os"
	"syscall"
)

// hangups are the signals that say that the terminal is gone.
var hangups = []os.Signal{syscall.SIGHUP}
