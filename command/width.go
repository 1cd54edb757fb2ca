package command

import (
	"os"
	"strconv"
)

// The width of a report is limited: in a narrower one no table fits, and longer lines are
// hard to read.
const leastWidth, mostWidth = 60, 200

// usualWidth is how many columns text has where the width of the output is not known.
const usualWidth = 80

// chooseWidth returns the maximum number of columns in a line of output to w: the width of the
// terminal, or the environment variable COLUMNS if it is a number. It returns 0, which means the
// usual width, if neither is known, as in a pipe.
func chooseWidth(w any) int {
	width, err := strconv.Atoi(os.Getenv("COLUMNS"))
	if err != nil || width <= 0 {
		width = 0
		if isTerminal(w) {
			width = terminalWidth(fileOf(w))
		}
	}
	if width <= 0 {
		return 0
	}
	return min(max(width, leastWidth), mostWidth)
}
