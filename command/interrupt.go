package command

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// interruptible makes two contexts. The first interrupt, which is a Ctrl-C or a SIGTERM,
// ends searching and calls say; the second ends reporting; a third ends the process.
// stop takes no more of them.
func interruptible(say func()) (searching, reporting context.Context, stop func()) {
	searching, endSearch := context.WithCancel(context.Background())
	reporting, endReport := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	over, stop := context.WithCancel(context.Background())
	go func() {
		defer signal.Stop(signals)
		defer endReport()
		defer endSearch()
		select {
		case <-signals:
			say()
			endSearch()
		case <-over.Done():
			return
		}
		select {
		case <-signals:
		case <-over.Done():
		}
	}()
	return searching, reporting, stop
}

// errInterrupted is the error of what an interrupt came in the middle of, though it was
// done.
var errInterrupted = failure{unexpected, errors.New("interrupted")}

// uninterrupted does what must not end in the middle, and takes a moment: an interrupt in
// that time is told afterwards.
func uninterrupted(do func() error) error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	err := do()
	signal.Stop(signals) // which waits for one that is on its way
	select {
	case <-signals:
		return errors.Join(err, errInterrupted)
	default:
		return err
	}
}
