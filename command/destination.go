package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/locksim/locksim/reports"
)

// A destination is where a report goes. It is checked before anything is run, and opened
// then if it is not a regular file.
type destination struct {
	// name is the value of -o; "" is standard output.
	name string
	// open is an open file to write the report to: an inherited descriptor, a named pipe or
	// a device. It is nil for standard output and for a regular file, which is replaced as
	// a whole.
	open *os.File
}

// findDestination checks that a report can be written to a name, before anything is read.
// It opens a descriptor if the name refers to one, and nothing that can block.
func findDestination(name string) (*destination, error) {
	d := &destination{name: name}
	if name == "" {
		return d, nil
	}
	number, isDescriptor, err := resolveDescriptor(name)
	if isDescriptor && err == nil {
		d.open, err = openDescriptor(number, name)
	}
	if isDescriptor || err != nil {
		if err != nil {
			err = fmt.Errorf("locksim: -o %s: %w", name, err)
		}
		return d, err
	}
	return d, checkFile(name)
}

// checkFile returns why a file, or another thing that can be written to, cannot be created
// or written under a name.
func checkFile(name string) error {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := checkDangling(name); err != nil {
			return fmt.Errorf("locksim: -o %w", err)
		}
	case err != nil:
		return statError(name, err)
	case info.IsDir():
		return fmt.Errorf("locksim: -o %s is a directory; name a file in it", name)
	case !info.Mode().IsRegular():
		return nil
	default:
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

// statError returns the error of a name that the operating system cannot resolve, for
// example because it is too long.
func statError(name string, err error) error {
	if dir := filepath.Dir(name); errors.Is(err, errNoDirectory) {
		return fmt.Errorf("locksim: -o %s: there is no directory %s; make it first", name, dir)
	}
	return fmt.Errorf("locksim: -o %s: %w; name another file", name, cause(err))
}

// prepare opens a destination that is neither a regular file nor a descriptor, as a shell
// does before it runs a command: for a named pipe it waits for the reader. It keeps what is
// already open.
func (d *destination) prepare(stdout io.Writer) error {
	if d.name == "" {
		f := fileOf(stdout)
		if f == nil {
			return nil
		}
		if err := checkDescriptor(int(f.Fd())); err != nil {
			return fmt.Errorf("locksim: standard output: %w", err)
		}
		return nil
	}
	if d.open != nil {
		return nil
	}
	info, err := os.Stat(d.name)
	if err != nil || info.Mode().IsRegular() {
		return nil
	}
	if d.open, err = os.OpenFile(d.name, os.O_WRONLY, 0); err != nil {
		return fmt.Errorf("locksim: -o %s: %w", d.name, cause(err))
	}
	return nil
}

// info describes the file that the report is written to; nil if it does not exist yet.
func (d *destination) info(stdout io.Writer) fs.FileInfo {
	var info fs.FileInfo
	var err error
	switch {
	case d.open != nil:
		info, err = d.open.Stat()
	case d.name != "":
		info, err = os.Stat(d.name)
	default:
		f := fileOf(stdout)
		if f == nil {
			return nil
		}
		info, err = f.Stat()
	}
	if err != nil {
		return nil
	}
	return info
}

// output writes a report to its destination, in colour if that is a terminal.
func (d *destination) output(stdout io.Writer, o reports.Options, write func(io.Writer, reports.Options) error) error {
	o.Columns = columns
	if d.name == "" {
		o.Palette = choosePalette(stdout)
		return write(stdout, o)
	}
	var whole bytes.Buffer
	if err := write(&whole, o); err != nil {
		return err
	}
	if d.open == nil {
		return writeFile(d.name, whole.Bytes())
	}
	_, err := d.open.Write(whole.Bytes())
	return err
}

// writeFile writes a file as a whole or not at all: a concurrent reader sees the old file
// or the new one. If the name is a link, it replaces the link's target.
func writeFile(name string, data []byte) error {
	info, err := os.Stat(name)
	if err != nil {
		if err := checkDangling(name); err != nil {
			return err
		}
		return replaceFile(name, contents(data))
	}
	if name, err = filepath.EvalSymlinks(name); err != nil {
		return err
	}
	return replaceFile(name, func(f *os.File) error {
		return errors.Join(contents(data)(f), f.Chmod(info.Mode().Perm()))
	})
}

// contents returns a function that fills a file with data.
func contents(data []byte) func(*os.File) error {
	return func(f *os.File) error {
		_, err := f.Write(data)
		return err
	}
}
