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

// An outputName is where a report goes, as -o says: "-" is standard output, as it is if
// nothing is said.
type outputName string

func (n *outputName) String() string { return string(*n) }

// Type is the kind of value that the help shows.
func (n *outputName) Type() string { return "string" }

func (n *outputName) Set(name string) error {
	if name == "-" {
		name = ""
	}
	*n = outputName(name)
	return nil
}

// palette decides about colour: on a terminal, unless NO_COLOR is set (see
// no-color.org) or the terminal knows none; CLICOLOR_FORCE asks for it anywhere.
func palette(w any) reports.Palette {
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

// A printer is standard output, and remembers that something could not be printed: who
// prints help does not ask.
type printer struct {
	io.Writer
	err error
	// used: something was printed.
	used bool
}

func (p *printer) Write(text []byte) (int, error) {
	n, err := p.Writer.Write(text)
	p.err = cmp.Or(p.err, err)
	p.used = p.used || n > 0
	return n, err
}

// isTerminal reports whether w is a terminal that understands more than text.
func isTerminal(w any) bool {
	f := fileOf(w)
	return f != nil && os.Getenv("TERM") != "dumb" && isatty.IsTerminal(f.Fd())
}

// fileOf is the file that is written to; nil if it is none.
func fileOf(w any) *os.File {
	if p, is := w.(*printer); is {
		w = p.Writer
	}
	f, _ := w.(*os.File)
	return f
}

// leadsNowhere is the error of a link behind which there is no file: whoever made it did
// not mean it to be replaced.
func leadsNowhere(name string) error {
	if _, err := os.Readlink(name); err == nil {
		return fmt.Errorf("%s is a link that leads nowhere; name the file itself", name)
	}
	return nil
}

// replaceFile puts a file that write fills in the place of another, or where none was. If
// that fails, or is interrupted, nothing is left behind.
func replaceFile(name string, write func(*os.File) error) error {
	return uninterrupted(func() error {
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

// cause is what went wrong with a file that is named anyway: what the operating system
// said, without what Go says around it.
func cause(err error) error {
	var told *fs.PathError
	if errors.As(err, &told) {
		return told.Err
	}
	return err
}

// createBeside creates a file in the folder of another, whose place it can take. Its
// permissions are those of every new file. Its name is no other's: what a process that was
// killed has left behind is in nobody's way.
func createBeside(name string) (*os.File, error) {
	for {
		temp := filepath.Join(filepath.Dir(name), fmt.Sprintf(".locksim-%016x", rand.Uint64()))
		f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// canWriteBeside says why no file can be created in the folder of another.
func canWriteBeside(name string) error {
	return uninterrupted(func() error {
		f, err := createBeside(name)
		if err != nil {
			return err
		}
		return errors.Join(f.Close(), os.Remove(f.Name()))
	})
}
