package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/mattn/go-isatty"

	"github.com/locksim/locksim/reports"
)

// An outputName is the value of -o, which says where a report is written. Both "-" and ""
// mean standard output.
type outputName string

func (n *outputName) String() string { return string(*n) }

// Type returns the name for the kind of value, which pflag shows in the help.
func (n *outputName) Type() string { return "file" }

func (n *outputName) Set(name string) error {
	switch name {
	case "":
		return errors.New("it is empty")
	case "-":
		name = ""
	}
	*n = outputName(name)
	return nil
}

// choosePalette returns the colours for output to w. There are colours on a terminal,
// unless NO_COLOR is set (see no-color.org) or the terminal does not support them.
// CLICOLOR_FORCE turns them on everywhere.
func choosePalette(w any) reports.Palette {
	switch {
	case os.Getenv("NO_COLOR") != "":
		return reports.Palette{}
	case os.Getenv("CLICOLOR_FORCE") != "" && os.Getenv("CLICOLOR_FORCE") != "0":
		return reports.Colour
	case !isTerminal(w):
		return reports.Palette{}
	}
	return reports.Colour
}

// A printer is standard output. It remembers the first error of a write, because cobra
// ignores errors when it prints help.
type printer struct {
	io.Writer
	err error
	// used is true once something has been printed.
	used bool
}

func (p *printer) Write(text []byte) (int, error) {
	n, err := p.Writer.Write(text)
	p.err = cmp.Or(p.err, err)
	p.used = p.used || n > 0
	return n, err
}

// isTerminal reports whether w is a terminal that supports more than plain text.
func isTerminal(w any) bool {
	f := fileOf(w)
	return f != nil && os.Getenv("TERM") != "dumb" && isatty.IsTerminal(f.Fd())
}

// fileOf returns the file that w writes to; nil if it is not a file.
func fileOf(w any) *os.File {
	if p, is := w.(*printer); is {
		w = p.Writer
	}
	f, _ := w.(*os.File)
	return f
}

// checkDangling returns an error if name is a link to a file that does not exist. It is
// probably not intended to replace such a link by a report.
func checkDangling(name string) error {
	if _, err := os.Readlink(name); err == nil {
		return fmt.Errorf("%s is a link to a file that does not exist; name the file itself", name)
	}
	return nil
}

// replaceFile creates a file or replaces it as a whole. write writes the contents. If that
// fails or is interrupted, the old file remains as it was.
func replaceFile(name string, write func(*os.File) error) error {
	return deferInterrupts(func() error {
		f, err := createBeside(name)
		if err != nil {
			return err
		}
		err = errors.Join(write(f), f.Close())
		if err == nil {
			err = os.Rename(f.Name(), name)
		}
		if err != nil {
			os.Remove(f.Name())
		}
		return err
	})
}

// systemError returns the operating system's error without what Go adds to it. It is for
// messages that already name the file.
func systemError(err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}

// createBeside creates a temporary file in the folder of another file, which it can replace
// later. The new file has the permissions of any new file. Its name is random, because a
// process that was killed may have left such a file behind.
func createBeside(name string) (*os.File, error) {
	for {
		temp := filepath.Join(filepath.Dir(name), fmt.Sprintf(".locksim-%016x", rand.Uint64()))
		f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// checkWriteBeside returns an error if no file can be created in the folder of another
// file.
func checkWriteBeside(name string) error {
	return deferInterrupts(func() error {
		f, err := createBeside(name)
		if err != nil {
			return err
		}
		return errors.Join(f.Close(), os.Remove(f.Name()))
	})
}
