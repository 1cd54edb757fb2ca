//go:build !js

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "engine: this program is for a browser; go run ./playground/build OUT/ builds the page with it")
	os.Exit(2)
}
