package runs

import (
	"fmt"
	"strings"
	"time"

	"github.com/locksim/locksim/trace"
)

// A Death describes how a worker process ended while it had an order to carry out. It is an
// error.
type Death struct {
	// Silence is how long the worker had sent nothing when the pool killed it for that
	// reason; 0 if it died by itself.
	Silence time.Duration
	// Signalled reports that the operating system or another process killed the worker.
	Signalled bool
	// Exit is how the process ended, such as "exit status 2".
	Exit string
	// Panic is the line in which the Go runtime said why it ended the process, or "".
	Panic string
	// Stderr is the end of what the process wrote to its standard error. If there is a Panic,
	// Stderr begins with that line.
	Stderr string
}

// Rule returns the rule of conduct that a lock breaks if its worker ends in this way: it
// hangs or it panics.
func (d *Death) Rule() string {
	if d.Silence > 0 {
		return trace.ConductHang
	}
	return trace.ConductPanic
}

// Error says how a worker ended. The text continues a sentence that begins with "the
// worker".
func (d *Death) Error() string {
	switch firstLine, _, _ := strings.Cut(d.Stderr, "\n"); {
	case d.Silence > 0:
		return fmt.Sprintf("showed no sign of life for %v", d.Silence)
	case d.Panic != "":
		return "died: " + d.Panic
	case firstLine != "":
		return fmt.Sprintf("died: %s: %s", d.Exit, firstLine)
	default:
		return "died: " + d.Exit
	}
}

// death returns how the process ended. wasSilent means that the pool killed it because it had sent
// nothing for too long.
func (w *worker) death(wasSilent bool) *Death {
	d := &Death{Exit: w.process.ProcessState.String(), Stderr: strings.TrimSpace(w.stderr.drain())}
	if wasSilent {
		d.Silence = w.maxSilence
		return d
	}
	d.Signalled = w.process.ProcessState.ExitCode() < 0
	// The process may have printed such lines earlier, without ending. The last such line is the
	// real one.
	panicStart := max(strings.LastIndex("\n"+d.Stderr, "\npanic: "), strings.LastIndex("\n"+d.Stderr, "\nfatal error: "))
	if panicStart >= 0 {
		d.Stderr = d.Stderr[panicStart:]
		d.Panic, _, _ = strings.Cut(d.Stderr, "\n")
	}
	return d
}
