package command

import "os"

// hangups are the signals that say that the terminal is gone; there are none for js.
var hangups []os.Signal
