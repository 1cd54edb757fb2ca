package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

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
}

func (p *printer) Write(text []byte) (int, error) {
	n, err := p.Writer.Write(text)
	p.err = cmp.Or(p.err, err)
	return n, err
}

// isTerminal reports whether w is a terminal that understands more than text.
func isTerminal(w any) bool {
	if p, is := w.(*printer); is {
		w = p.Writer
	}
	f, isFile := w.(*os.File)
	return isFile && os.Getenv("TERM") != "dumb" && isatty.IsTerminal(f.Fd())
}

// output writes to a file, if one is named, and else to standard output, in
// colour if that is a terminal.
func output(stdout io.Writer, file string, o reports.Options, write func(io.Writer, reports.Options) error) error {
	if file == "" {
		o.Palette = palette(stdout)
		return write(stdout, o)
	}
	var whole bytes.Buffer
	if err := write(&whole, o); err != nil {
		return err
	}
	return writeFile(file, whole.Bytes())
}

// writeFile writes a file as a whole or not at all: whoever reads it meanwhile
// sees the old file or the new one. What is no ordinary file, such as a pipe, is
// written to as it is.
func writeFile(name string, data []byte) error {
	write := func(f *os.File) error {
		_, err := f.Write(data)
		return err
	}
	if f := descriptor(name); f != nil {
		return write(f)
	}
	info, err := os.Stat(name)
	if err != nil {
		if err := leadsNowhere(name); err != nil {
			return err
		}
		return replaceFile(name, write)
	}
	if !info.Mode().IsRegular() {
		return os.WriteFile(name, data, 0o666)
	}
	if name, err = filepath.EvalSymlinks(name); err != nil {
		return err
	}
	return replaceFile(name, func(f *os.File) error { return errors.Join(write(f), f.Chmod(info.Mode().Perm())) })
}

// descriptor is the open file of this process that a name stands for, if it does: what
// that was opened to, and how, is the shell's business.
func descriptor(name string) *os.File {
	name = filepath.ToSlash(filepath.Clean(name))
	switch name {
	case "/dev/stdout":
		return os.Stdout
	case "/dev/stderr":
		return os.Stderr
	}
	for _, folder := range []string{"/dev/fd/", "/proc/self/fd/"} {
		if number, is := strings.CutPrefix(name, folder); is {
			if n, err := strconv.ParseUint(number, 10, 16); err == nil {
				return os.NewFile(uintptr(n), name)
			}
		}
	}
	return nil
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

// checkOutput says before anything is run why a file, if one is named, could not
// be written.
func checkOutput(name string) error {
	if name == "" || descriptor(name) != nil {
		return nil
	}
	info, err := os.Stat(name)
	switch {
	case err != nil && leadsNowhere(name) != nil:
		return fmt.Errorf("locksim: -o %w", leadsNowhere(name))
	case err == nil && info.IsDir():
		return fmt.Errorf("locksim: -o %s is a directory; name a file in it", name)
	case err == nil && !info.Mode().IsRegular():
		return nil
	case err == nil:
		target, err := filepath.EvalSymlinks(name)
		if err != nil {
			return fmt.Errorf("locksim: -o %s: %w", name, cause(err))
		}
		name = target
	}
	dir := filepath.Dir(name)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("locksim: -o %s: there is no directory %s; make it first", name, dir)
	}
	if err := canWriteBeside(name); err != nil {
		return fmt.Errorf("locksim: -o %s: nothing can be written to %s: %w", name, dir, cause(err))
	}
	return nil
}
