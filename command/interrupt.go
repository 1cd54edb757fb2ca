package command

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// notifyInterrupts returns two contexts. The first interrupt, which is a Ctrl-C or a
// SIGTERM, ends searching and calls onFirst; the second ends reporting; a third ends the
// process. stop ends the handling of interrupts.
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

// errInterrupted is the error of an action that was completed although an interrupt came
// during it.
var errInterrupted = failure{unexpected, errors.New("interrupted")}

// deferInterrupts does something short that must not end in the middle. It returns
// [errInterrupted] if an interrupt came meanwhile.
func deferInterrupts(action func() error) error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	err := action()
	signal.Stop(signals) // it waits until pending signals are delivered
	select {
	case <-signals:
		return errors.Join(err, errInterrupted)
	default:
		return err
	}
}
