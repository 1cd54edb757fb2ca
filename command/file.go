package command

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// A fileKind is a kind of file that the command reads. Its largest size prevents a wrong
// file on the command line from filling the memory.
type fileKind struct {
	// description is what a file of this kind is, such as "a scenario".
	description string
	// maxBytes is the largest size of such a file.
	maxBytes int
	// remedy says what to do if a file is larger.
	remedy string
}

var (
	scenarioFile = fileKind{"a scenario", scenarios.MaxSize, "is this the right file?"}
	exploredFile = fileKind{"a report of locksim explore", reports.MaxExplored, "name a file that locksim explore --format json -o FILE has written"}
	tracesFile   = fileKind{"a file of saved traces", reports.MaxSaved, "save fewer scenarios in one file"}
)

// errTooLarge is wrapped by the error for a file that is larger than its kind allows.
var errTooLarge = errors.New("it is larger")

// read reads a file of this kind to its end. With an error that wraps errTooLarge, it returns the
// beginning of the file.
func (k fileKind) read(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, int64(k.maxBytes)+1))
	if err != nil {
		return nil, systemError(err)
	}
	if len(data) > k.maxBytes {
		return data, fmt.Errorf("%w than %d bytes, and %s has at most that many; %s", errTooLarge, k.maxBytes, k.description, k.remedy)
	}
	return data, nil
}

// readFile reads a file by its name. The caller must add the name to an error.
func (k fileKind) readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, systemError(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, errors.New("it is a directory; name a file in it")
	}
	return k.read(f)
}
