package command

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// notifyInterrupts returns two contexts that end on interrupts: a Ctrl-C or a SIGTERM. The
// first interrupt ends searching and calls onFirst. The second ends reporting. After that,
// interrupts end the process. stop ends all of this.
func notifyInterrupts(onFirst func()) (searching, reporting context.Context, stop func()) {
	searching, endSearch := context.WithCancel(context.Background())
	reporting, endReport := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	stopped, stop := context.WithCancel(context.Background())
	go func() {
		defer signal.Stop(signals)
		defer endReport()
		defer endSearch()
		select {
		case <-signals:
			onFirst()
			endSearch()
		case <-stopped.Done():
			return
		}
		select {
		case <-signals:
		case <-stopped.Done():
		}
	}()
	return searching, reporting, stop
}

// errInterrupted is returned if an interrupt came during an action, which was completed
// nevertheless.
var errInterrupted = failure{unexpected, errors.New("interrupted")}

// deferInterrupts calls a short action that must not end in the middle. If an interrupt
// came meanwhile, it returns [errInterrupted] after the action.
func deferInterrupts(action func() error) error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	err := action()
	signal.Stop(signals) // it returns when pending signals have been delivered
	select {
	case <-signals:
		return errors.Join(err, errInterrupted)
	default:
		return err
	}
}
