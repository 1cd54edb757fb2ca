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

// A destination is where a report is written. It is checked before anything is run. If it
// is not a regular file, it is also opened then.
type destination struct {
	// name is the value of -o; "" means standard output.
	name string
	// file is the open file to write the report to, if it is an inherited descriptor, a
	// named pipe or a device. It is nil for standard output, and for a regular file, which
	// is replaced as a whole at the end.
	file *os.File
}

// findDestination returns the destination that name means. It fails if a report cannot be
// written there. It opens the destination only if it is a descriptor, because opening anything
// else could block.
func findDestination(name string) (*destination, error) {
	d := &destination{name: name}
	if name == "" {
		return d, nil
	}
	number, isDescriptor, err := resolveDescriptor(name)
	if isDescriptor && err == nil {
		d.file, err = openDescriptor(number, name)
	}
	if isDescriptor || err != nil {
		if err != nil {
			err = fmt.Errorf("locksim: -o %s: %w", name, err)
		}
		return d, err
	}
	return d, checkFile(name)
}

// checkFile returns an error if nothing can be written under a name: to an existing file,
// pipe or device, or to a new file.
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
			return fmt.Errorf("locksim: -o %s: %w", name, systemError(err))
		}
		name = target
	}
	dir := filepath.Dir(name)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("locksim: -o %s: there is no directory %s; make it first", name, dir)
	}
	if err := checkWriteBeside(name); err != nil {
		return fmt.Errorf("locksim: -o %s: nothing can be written to %s: %w", name, dir, systemError(err))
	}
	return nil
}

// statError returns the error for a name that the operating system cannot resolve, for
// example because it is too long.
func statError(name string, err error) error {
	if dir := filepath.Dir(name); errors.Is(err, errNoDirectory) {
		return fmt.Errorf("locksim: -o %s: there is no directory %s; make it first", name, dir)
	}
	return fmt.Errorf("locksim: -o %s: %w; name another file", name, systemError(err))
}

// prepare opens a destination that is neither a regular file nor a descriptor, before anything is
// run. A shell does the same before it runs a command: opening a named pipe waits for the reader.
// prepare does nothing if the destination is already open. For standard output, it only checks that
// the output can be written to.
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
	if d.file != nil {
		return nil
	}
	info, err := os.Stat(d.name)
	if err != nil || info.Mode().IsRegular() {
		return nil
	}
	if d.file, err = os.OpenFile(d.name, os.O_WRONLY, 0); err != nil {
		return fmt.Errorf("locksim: -o %s: %w", d.name, systemError(err))
	}
	return nil
}

// info describes the file to which the report will be written; nil if it does not exist
// yet.
func (d *destination) info(stdout io.Writer) fs.FileInfo {
	var info fs.FileInfo
	var err error
	switch {
	case d.file != nil:
		info, err = d.file.Stat()
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

// output writes a report to its destination. If that is standard output, colour and width
// suit it: see choosePalette and chooseWidth.
func (d *destination) output(stdout io.Writer, o reports.Options, write func(io.Writer, reports.Options) error) error {
	o.Columns = columns
	if d.name == "" {
		o.Palette, o.Width = choosePalette(stdout), chooseWidth(stdout)
		return write(stdout, o)
	}
	var whole bytes.Buffer
	if err := write(&whole, o); err != nil {
		return err
	}
	if d.file == nil {
		return writeFile(d.name, whole.Bytes())
	}
	_, err := d.file.Write(whole.Bytes())
	return err
}

// writeFile writes a file as a whole or not at all: a process that reads the file at the
// same time sees either the old or the new contents. If the name is a link, writeFile
// replaces the file that the link leads to.
func writeFile(name string, data []byte) error {
	info, err := os.Stat(name)
	if err != nil {
		if err := checkDangling(name); err != nil {
			return err
		}
		return replaceFile(name, writeContents(data))
	}
	if name, err = filepath.EvalSymlinks(name); err != nil {
		return err
	}
	return replaceFile(name, func(f *os.File) error {
		return errors.Join(writeContents(data)(f), f.Chmod(info.Mode().Perm()))
	})
}

// writeContents returns a function that writes data to a file.
func writeContents(data []byte) func(*os.File) error {
	return func(f *os.File) error {
		_, err := f.Write(data)
		return err
	}
}
