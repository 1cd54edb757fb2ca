package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/locksim/locksim/internal/explore"
)

// openLedger opens the ledger that the flags name: a file with all results of a search, which is
// new, or which the search continues. Until closeLedger is called, no other search can use the
// ledger, if the file system can lock files.
func (f *exploreFlags) openLedger(stderr io.Writer, s *explore.Search, lock string) (closeLedger func(), err error) {
	heading := s.Heading(searchVersion(lock), lock)
	switch {
	case f.ledger != "":
		// An existing ledger is not overwritten, because the search may have taken hours.
		file, err := os.OpenFile(f.ledger, ledgerMode|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("locksim: --ledger %s exists; continue it with --resume", f.ledger)
		} else if err != nil {
			return nil, fmt.Errorf("locksim: --ledger %s: %w", f.ledger, systemError(err))
		}
		s.Ledger = explore.NewLedger()
		if err := errors.Join(claimLedger(stderr, file), s.Ledger.WriteTo(file, &heading)); err != nil {
			file.Close()
			if !errors.As(err, new(inUseError)) {
				err = errors.Join(err, os.Remove(f.ledger)) // nobody could resume a ledger without its heading
			}
			return nil, fmt.Errorf("locksim: --ledger %s: %w", f.ledger, err)
		}
		return func() { closeAndCheck(stderr, file) }, nil
	case f.resume != "":
		file, err := os.OpenFile(f.resume, ledgerMode, 0)
		if err != nil {
			return nil, fmt.Errorf("locksim: --resume %s: %w", f.resume, systemError(err))
		}
		if s.Ledger, err = resumeLedger(stderr, file, heading); err != nil {
			file.Close()
			return nil, fmt.Errorf("locksim: --resume %s: %w", f.resume, err)
		}
		return func() { closeAndCheck(stderr, file) }, nil
	}
	return func() {}, nil
}

// claimLedger locks a ledger for writing. If the file system cannot lock files, it prints a
// note that asks the user to start no other search with the same ledger.
func claimLedger(stderr io.Writer, file *os.File) error {
	err := claim(file, true)
	if errors.As(err, new(inUseError)) {
		return err
	}
	if err != nil {
		printLine(stderr, "%s cannot be locked (%v); make sure that no other search uses it at the same time", file.Name(), systemError(err))
	}
	return nil
}

// resumeLedger reads a ledger in order to continue it. If the search was killed while it
// wrote a line, resumeLedger removes that line.
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

// readPart reads the ledger of a part of a search and adds it to l. It fails if accept returns an
// error for the ledger's heading, which describes the search, or if a search still writes to the
// ledger.
func readPart(l *explore.Ledger, name string, accept func(explore.Heading) error) (explore.Heading, error) {
	var heading explore.Heading
	file, err := os.Open(name)
	if err != nil {
		return heading, systemError(err)
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

// closeAndCheck closes a ledger after the search. If the file was removed or replaced
// meanwhile, it prints a note.
func closeAndCheck(stderr io.Writer, file *os.File) {
	written, err := file.Stat()
	current, err2 := os.Stat(file.Name())
	if err == nil && (err2 != nil || !os.SameFile(written, current)) {
		printLine(stderr, "the ledger %s was removed or replaced while the search ran: it cannot be resumed", file.Name())
	}
	file.Close()
}
