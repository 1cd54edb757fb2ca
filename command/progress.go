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

// next says that the scenario with this name is run now.
func (p *progress) next(name string) {
	p.done++
	if p.onTerminal {
		fmt.Fprintf(p.w, "\r\x1b[K%d of %d: %.60s", p.done, p.total, story.Visible(name))
	}
}

// clear removes the line from the terminal, so that a report can follow.
func (p *progress) clear() {
	if p.onTerminal {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
