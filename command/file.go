package command

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// A fileKind is a kind of file that the command reads, and how large one can
// sensibly be: whatever a command line names, it must not fill the memory.
type fileKind struct {
	// is says what a file of the kind is, as in "a scenario".
	is string
	// most is how many bytes it has at most.
	most int
	// remedy says what to do about a larger one.
	remedy string
}

var (
	scenarioFile = fileKind{"a scenario", scenarios.MaxSize, "is this the right file?"}
	exploredFile = fileKind{"a report of locksim explore", reports.MaxExplored, "name the one that locksim explore --format json -o FILE has written"}
	tracesFile   = fileKind{"a file of saved traces", reports.MaxSaved, "save fewer scenarios in one file"}
)

// errLarger is wrapped by the error of a file that is larger than its kind.
var errLarger = errors.New("it is larger")

// read reads a file of the kind to its end.
func (k fileKind) read(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, int64(k.most)+1))
	if err != nil {
		return nil, cause(err)
	}
	if len(data) > k.most {
		return nil, fmt.Errorf("%w than %d bytes, and %s has at most that many; %s", errLarger, k.most, k.is, k.remedy)
	}
	return data, nil
}

// readFile reads the file of a name. The error leaves the name to the caller.
func (k fileKind) readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, cause(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, errors.New("it is a directory; name a file in it")
	}
	return k.read(f)
}
