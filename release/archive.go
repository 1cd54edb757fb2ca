package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A file is a file in an archive. The folders in its name are separated by slashes.
type file struct {
	name string
	data []byte
	mode fs.FileMode
}

// writeArchive writes files as a .zip or .tar.gz archive. at is the time of all files in it. Equal
// files and times give the same bytes.
func writeArchive(name string, files []file, at time.Time) error {
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	var b bytes.Buffer
	var err error
	if strings.HasSuffix(name, ".zip") {
		err = writeZip(&b, files, at)
	} else {
		err = writeTar(&b, files, at)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(name, b.Bytes(), 0o666)
}

func writeZip(w io.Writer, files []file, at time.Time) error {
	z := zip.NewWriter(w)
	for _, f := range files {
		header := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: at}
		header.SetMode(f.mode)
		out, err := z.CreateHeader(header)
		if err == nil {
			_, err = out.Write(f.data)
		}
		if err != nil {
			return err
		}
	}
	return z.Close()
}

func writeTar(w io.Writer, files []file, at time.Time) error {
	g := gzip.NewWriter(w)
	t := tar.NewWriter(g)
	for _, f := range files {
		header := &tar.Header{Name: f.name, Size: int64(len(f.data)), Mode: int64(f.mode.Perm()), ModTime: at, Typeflag: tar.TypeReg}
		err := t.WriteHeader(header)
		if err == nil {
			_, err = t.Write(f.data)
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), g.Close())
}

// packFolder writes the files of a folder as an archive.
func packFolder(folder, archive string) error {
	var files []file
	err := filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		within, err := filepath.Rel(folder, name)
		files = append(files, file{filepath.ToSlash(within), data, 0o644})
		return err
	})
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("%s has no files", folder)
	}
	at, err := commitTime()
	if err != nil {
		return err
	}
	return writeArchive(archive, files, at)
}

// unpack writes the files of an archive into a folder. It refuses names that lead out of the
// folder.
func unpack(archive, folder string) error {
	data, err := os.ReadFile(archive)
	if err != nil {
		return err
	}
	write := func(name string, mode fs.FileMode, from io.Reader) error {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return fmt.Errorf("%s: the name %q leads out of the archive", archive, name)
		}
		to := filepath.Join(folder, filepath.FromSlash(path.Clean(name)))
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return err
		}
		content, err := io.ReadAll(from)
		if err != nil {
			return err
		}
		return os.WriteFile(to, content, mode)
	}
	if strings.HasSuffix(archive, ".zip") {
		z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return err
		}
		for _, f := range z.File {
			from, err := f.Open()
			if err != nil {
				return err
			}
			if err := errors.Join(write(f.Name, f.Mode().Perm(), from), from.Close()); err != nil {
				return err
			}
		}
		return nil
	}
	g, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return err
	}
	t := tar.NewReader(g)
	for {
		header, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = write(header.Name, header.FileInfo().Mode().Perm(), t)
		}
		if err != nil {
			return err
		}
	}
}
