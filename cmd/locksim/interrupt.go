package main

import (
	"context"
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
