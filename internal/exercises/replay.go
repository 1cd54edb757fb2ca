package exercises

import (
	"context"
	"errors"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports"
)

// A Replay is one world that was run again.
type Replay struct {
	// Title says what the world is about, and Timeline shows what happened.
	Title, Timeline string
	// Failure is why the lock fails in the world; nil if it does not.
	Failure *Failure
	// Printed are the lines that the lock has printed. If there are too many, only the first are
	// there, and a note at the end says so.
	Printed []string
}

// IsWorld reports whether there is a world with an address.
func IsWorld(address string) bool {
	_, ok := parseAddress(address)
	return ok
}

// Replay runs the world with an address. messages adds every message to the timeline.
func (t *Trial) Replay(ctx context.Context, address string, messages bool) (*Replay, error) {
	w, ok := parseAddress(address)
	if !ok {
		return nil, errors.New("there is no world " + address)
	}
	records, err := t.run(ctx, []trialWorld{w})
	if err != nil {
		return nil, err
	}
	failure, err := t.judge(records[0])
	if err != nil {
		return nil, err
	}
	v, err := w.variant()
	if err != nil {
		return nil, err
	}
	r := &Replay{Title: v.Title, Failure: failure, Printed: t.printed.lines()}
	if t := records[0].Trace; t != nil {
		r.Timeline = reports.Timeline{Messages: messages}.Render([]string{""}, []*history.History{history.New(t)})
	} else if failure != nil {
		r.Timeline = failure.Lines
	}
	return r, nil
}
