package runs

import (
	"fmt"
	"strings"
	"time"

	"github.com/locksim/locksim/trace"
)

// A Death describes how a worker ended that had something to do. It is an error.
type Death struct {
	// Silence is how long the worker had sent nothing when it was killed for that; 0 if it
	// died by itself.
	Silence time.Duration
	// Signalled reports that the operating system or another process killed the worker.
	Signalled bool
	// Exit is how the process ended, such as "exit status 2".
	Exit string
	// Panic is the line in which the Go runtime gave the reason for ending the process, or
	// "".
	Panic string
	// Stderr is the last part of the process's standard error, from Panic on if there is
	// one.
	Stderr string
}

// Rule returns the rule of conduct that a job breaks if its worker ends in this way.
func (d *Death) Rule() string {
	if d.Silence > 0 {
		return trace.ConductHang
	}
	return trace.ConductPanic
}

// Error says how a worker ended; the text follows "the worker".
func (d *Death) Error() string {
	switch first, _, _ := strings.Cut(d.Stderr, "\n"); {
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

// death returns how the process ended. silent reports that it was killed for its silence.
func (w *worker) death(silent bool) *Death {
	d := &Death{Exit: w.process.ProcessState.String(), Stderr: strings.TrimSpace(w.stderr.drain())}
	if silent {
		d.Silence = w.silence
		return d
	}
	d.Signalled = w.process.ProcessState.ExitCode() < 0
	// The process may have printed such lines before; the last one is the real end.
	at := max(strings.LastIndex("\n"+d.Stderr, "\npanic: "), strings.LastIndex("\n"+d.Stderr, "\nfatal error: "))
	if at >= 0 {
		d.Stderr = d.Stderr[at:]
		d.Panic, _, _ = strings.Cut(d.Stderr, "\n")
	}
	return d
}
