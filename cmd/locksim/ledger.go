package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/locksim/locksim/explore"
)

// openLedger opens the ledger that the flags ask for, new or old.
func (f *exploreFlags) openLedger(s *explore.Search, lock string) (closeIt func(), err error) {
	heading := s.Heading(version(), lock)
	switch {
	case f.ledger != "":
		// What is there may have taken hours.
		file, err := os.OpenFile(f.ledger, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("locksim: --ledger %s exists; --resume goes on with it", f.ledger)
		} else if err != nil {
			return nil, fmt.Errorf("locksim: --ledger %s: %w", f.ledger, cause(err))
		}
		s.Ledger = explore.NewLedger()
		if err := s.Ledger.WriteTo(file, &heading); err != nil {
			file.Close()
			return nil, fmt.Errorf("locksim: --ledger %s: %w", f.ledger, err)
		}
		return func() { file.Close() }, nil
	case f.resume != "":
		file, err := os.OpenFile(f.resume, os.O_RDWR, 0)
		if err != nil {
			return nil, fmt.Errorf("locksim: --resume %s: %w", f.resume, cause(err))
		}
		if s.Ledger, err = resumed(file, heading); err != nil {
			file.Close()
			return nil, fmt.Errorf("locksim: --resume %s: %w", f.resume, err)
		}
		return func() { file.Close() }, nil
	}
	return func() {}, nil
}

// resumed is the ledger in a file, to be gone on with. What a search that was killed
// has left of a line is cut off.
func resumed(file *os.File, heading explore.Heading) (*explore.Ledger, error) {
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, errors.New("it is no ordinary file"))
	}
	l := explore.NewLedger()
	whole, err := l.Read(file, heading.Continues)
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
