package runs

import (
	"fmt"
	"strings"
	"time"

	"github.com/locksim/locksim/trace"
)

// A Death is how a worker ended that had something to do.
type Death struct {
	// Silence is how long it had said nothing when it was killed for it; 0 if it died
	// by itself.
	Silence time.Duration
	// Signalled says that somebody else killed it, or the operating system did.
	Signalled bool
	// Exit is how the process ended, such as "exit status 2".
	Exit string
	// Panic is the line in which the Go runtime said why it ended the process, or "".
	Panic string
	// Said is the last of what the process wrote to its standard error, from Panic on
	// if there is one.
	Said string
}

// Rule is what a job must not do that has ended its worker so.
func (d *Death) Rule() string {
	if d.Silence > 0 {
		return trace.ConductHang
	}
	return trace.ConductPanic
}

// Error says how a worker ended: it goes on after "the worker".
func (d *Death) Error() string {
	switch first, _, _ := strings.Cut(d.Said, "\n"); {
	case d.Silence > 0:
		return fmt.Sprintf("showed no sign of life for %v", d.Silence)
	case d.Panic != "":
		return "died: " + d.Panic
	case first != "":
		return fmt.Sprintf("died: %s: %s", d.Exit, first)
	default:
		return "died: " + d.Exit
	}
}

// death is how the process ended; silent says that it was killed for its silence.
func (w *worker) death(silent bool) *Death {
	d := &Death{Exit: w.process.ProcessState.String(), Said: strings.TrimSpace(w.said.take())}
	if silent {
		d.Silence = w.silence
		return d
	}
	d.Signalled = w.process.ProcessState.ExitCode() < 0
	// The last such line is the end; those before it were only printed.
	at := max(strings.LastIndex("\n"+d.Said, "\npanic: "), strings.LastIndex("\n"+d.Said, "\nfatal error: "))
	if at >= 0 {
		d.Said = d.Said[at:]
		d.Panic, _, _ = strings.Cut(d.Said, "\n")
	}
	return d
}
