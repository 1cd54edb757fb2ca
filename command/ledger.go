package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/locksim/locksim/internal/explore"
)

// openLedger opens the ledger that the flags ask for, new or old. No other process can
// write to it until it is closed.
func (f *exploreFlags) openLedger(stderr io.Writer, s *explore.Search, lock string) (closeIt func(), err error) {
	heading := s.Heading(versionWith(lock), lock)
	switch {
	case f.ledger != "":
		// An existing ledger is not overwritten: it may have taken hours.
		file, err := os.OpenFile(f.ledger, ledgerMode|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("locksim: --ledger %s exists; continue it with --resume", f.ledger)
		} else if err != nil {
			return nil, fmt.Errorf("locksim: --ledger %s: %w", f.ledger, cause(err))
		}
		s.Ledger = explore.NewLedger()
		if err := errors.Join(claimLedger(stderr, file), s.Ledger.WriteTo(file, &heading)); err != nil {
			file.Close()
			if !errors.As(err, new(inUseError)) {
				err = errors.Join(err, os.Remove(f.ledger)) // nobody could resume it
			}
			return nil, fmt.Errorf("locksim: --ledger %s: %w", f.ledger, err)
		}
		return func() { closeAndCheck(stderr, file) }, nil
	case f.resume != "":
		file, err := os.OpenFile(f.resume, ledgerMode, 0)
		if err != nil {
			return nil, fmt.Errorf("locksim: --resume %s: %w", f.resume, cause(err))
		}
		if s.Ledger, err = resumeLedger(stderr, file, heading); err != nil {
			file.Close()
			return nil, fmt.Errorf("locksim: --resume %s: %w", f.resume, err)
		}
		return func() { closeAndCheck(stderr, file) }, nil
	}
	return func() {}, nil
}

// claimLedger claims a ledger for writing. If the system cannot lock it, it asks the user
// to start no other search with it.
func claimLedger(stderr io.Writer, file *os.File) error {
	err := claim(file, true)
	if errors.As(err, new(inUseError)) {
		return err
	}
	if err != nil {
		printLine(stderr, "%s cannot be locked (%v); make sure that no other search uses it at the same time", file.Name(), cause(err))
	}
	return nil
}

// resumeLedger reads the ledger in a file, to continue it. It truncates the incomplete last
// line of a search that was killed.
func resumeLedger(stderr io.Writer, file *os.File, heading explore.Heading) (*explore.Ledger, error) {
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, errors.New("it is not a regular file"))
	}
	if err := claimLedger(stderr, file); err != nil {
		return nil, err
	}
	l := explore.NewLedger()
	whole, err := l.Read(file, heading.CheckContinues)
	if err != nil {
		return nil, err
	}
	if err := file.Truncate(whole); err != nil {
		return nil, err
	}
	if _, err := file.Seek(whole, io.SeekStart); err != nil {
		return nil, err
	}
	return l, l.WriteTo(file, nil)
}

// readPart adds the ledger in a file to l, if accept returns no error for its heading. It
// refuses a ledger that a search is still writing to.
func readPart(l *explore.Ledger, name string, accept func(explore.Heading) error) (explore.Heading, error) {
	var heading explore.Heading
	file, err := os.Open(name)
	if err != nil {
		return heading, cause(err)
	}
	defer file.Close()
	if err := claim(file, false); errors.As(err, new(inUseError)) {
		return heading, err
	}
	_, err = l.Read(file, func(h explore.Heading) error {
		heading = h
		return accept(h)
	})
	return heading, err
}

// closeAndCheck closes a ledger that was written. It prints a note if the ledger's name
// does not lead to it any more.
func closeAndCheck(stderr io.Writer, file *os.File) {
	written, err := file.Stat()
	current, err2 := os.Stat(file.Name())
	if err == nil && (err2 != nil || !os.SameFile(written, current)) {
		printLine(stderr, "the ledger %s was removed or replaced while the search ran: it cannot be resumed", file.Name())
	}
	file.Close()
}
