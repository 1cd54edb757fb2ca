//go:build !js

package bridge

import (
	"fmt"
	"os"
)

// Run ends the program, because it is for a browser only.
func Run() {
	fmt.Fprintln(os.Stderr, "this program is for a browser; go run ./playground/build OUT/ builds the page with it")
	os.Exit(2)
}
