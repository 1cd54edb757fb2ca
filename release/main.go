// Command release makes and checks what a release of locksim contains. Workflows run it in a
// clone; nothing in it publishes anything.
//
//	go run ./release check v0.1.0           fails if some file has another version than the tag
//	go run ./release tags v0.1.0            prints the tags of all modules
//	go run ./release build OUT/ v0.1.0      builds archives for all platforms, and their SBOMs
//	go run ./release pack FOLDER/ FILE      writes a folder as an archive
//	go run ./release sums OUT/              writes OUT/SHA256SUMS
//	go run ./release try ARCHIVE            runs the program of an archive in an empty root
//
// For build, "snapshot" may replace the version, and the names of platforms may follow, such
// as linux/arm64.
package main

import (
	"errors"
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// run executes a subcommand.
func run(args []string) error {
	usage := errors.New("usage: release check|tags VERSION, build OUT/ VERSION [PLATFORM...], pack FOLDER/ FILE, sums OUT/ or try ARCHIVE")
	if len(args) < 2 {
		return usage
	}
	switch command, args := args[0], args[1:]; {
	case command == "check" && len(args) == 1:
		return check(".", args[0])
	case command == "tags" && len(args) == 1:
		tags, err := tagsOf(".", args[0])
		for _, tag := range tags {
			fmt.Println(tag)
		}
		return err
	case command == "build" && len(args) >= 2:
		return buildAll(args[0], args[1], os.Getenv("LOCKSIM_PROGRAM"), args[2:])
	case command == "pack" && len(args) == 2:
		return packFolder(args[0], args[1])
	case command == "sums" && len(args) == 1:
		return writeSums(args[0])
	case command == "try" && len(args) == 1:
		return try(args[0], os.Getenv("LOCKSIM_EMULATOR"))
	}
	return usage
}
