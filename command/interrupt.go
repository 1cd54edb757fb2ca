package command

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// notifyInterrupts returns two contexts that end on interrupts: a Ctrl-C or a SIGTERM. The first
// interrupt ends searching and calls onFirst. The second ends reporting. After that, interrupts
// end the process. stop ends both contexts, and from then on every interrupt ends the process.
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

// removeOnInterrupt removes a folder and ends the process if an interrupt comes before stop is
// called. After stop it removes nothing.
func removeOnInterrupt(folder string) (stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	stopped, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-signals:
			_ = os.RemoveAll(folder) // nobody is left who could read an error
			os.Exit(unexpected)
		case <-stopped:
		}
	}()
	return func() {
		signal.Stop(signals)
		close(stopped)
		<-done
	}
}

// An interruptibleInput is an input that ends on an interrupt, so that a session can still write
// its end.
type interruptibleInput struct {
	in          io.Reader
	interrupted context.Context
	stop        func()
}

func newInterruptibleInput(in io.Reader) *interruptibleInput {
	interrupted, _, stop := notifyInterrupts(func() {})
	return &interruptibleInput{in, interrupted, stop}
}

// isInterrupted reports whether an interrupt has come.
func (i *interruptibleInput) isInterrupted() bool { return i.interrupted.Err() != nil }

// Read reads until an interrupt. A read that is under way at that moment is abandoned.
func (i *interruptibleInput) Read(p []byte) (int, error) {
	type reading struct {
		n   int
		err error
	}
	if i.isInterrupted() {
		return 0, io.EOF
	}
	data, done := make([]byte, len(p)), make(chan reading, 1)
	go func() {
		n, err := i.in.Read(data)
		done <- reading{n, err}
	}()
	select {
	case r := <-done:
		return copy(p, data[:r.n]), r.err
	case <-i.interrupted.Done():
		return 0, io.EOF
	}
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
