package command

import (
	"fmt"
	"io"

	"github.com/locksim/locksim/internal/story"
)

// A progress shows on a terminal which of the scenarios is being run, and how many there
// are. In a pipe or in CI it writes nothing.
type progress struct {
	w          io.Writer
	onTerminal bool
	total      int
	done       int
}

func newProgress(w io.Writer, total int) *progress {
	return &progress{w: w, onTerminal: total > 1 && isTerminal(w), total: total}
}

// newCount returns a progress whose total is not known.
func newCount(w io.Writer) *progress { return &progress{w: w, onTerminal: isTerminal(w)} }

// next says that the scenario with this name is run now. If the total is not known, the
// name says what is counted.
func (p *progress) next(name string) {
	p.done++
	switch {
	case p.onTerminal && p.total == 0:
		fmt.Fprintf(p.w, "\r\x1b[K%d %.60s", p.done, story.Visible(name))
	case p.onTerminal:
		fmt.Fprintf(p.w, "\r\x1b[K%d of %d: %.60s", p.done, p.total, story.Visible(name))
	}
}

// clear removes the line from the terminal, so that a report can follow.
func (p *progress) clear() {
	if p.onTerminal {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
