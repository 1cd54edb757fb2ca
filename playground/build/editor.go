package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// bundleEditor returns the editor as one script: the source in folder, with the packages of npm
// that the package-lock.json there names. No script of a package is run.
func bundleEditor(folder string) ([]byte, error) {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return nil, err
	}
	scratch, err := os.MkdirTemp("", "editor")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	if err := os.CopyFS(scratch, os.DirFS(folder)); err != nil {
		return nil, err
	}
	if err := runIn(scratch, npm, "ci", "--silent", "--ignore-scripts", "--no-audit", "--no-fund"); err != nil {
		return nil, err
	}
	licences, err := readLicences(filepath.Join(scratch, "node_modules"))
	if err != nil {
		return nil, err
	}
	esbuild := filepath.Join(scratch, "node_modules", ".bin", "esbuild")
	if err := runIn(scratch, esbuild, "editor.js", "--bundle", "--minify", "--format=esm", "--target=es2022", "--log-level=warning", "--outfile=bundle.js"); err != nil {
		return nil, err
	}
	script, err := os.ReadFile(filepath.Join(scratch, "bundle.js"))
	if err != nil {
		return nil, err
	}
	return append(licences, script...), nil
}

// readLicences returns the licences of the packages that are in the bundle, as a comment. A
// paragraph that occurs in several licences, as their terms do, is written only once.
func readLicences(modules string) ([]byte, error) {
	var files []string
	for _, pattern := range []string{"*/LICENSE", "@*/*/LICENSE"} {
		found, err := filepath.Glob(filepath.Join(modules, pattern))
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no licences", modules)
	}
	var text bytes.Buffer
	var seen []string
	text.WriteString("/*! This file contains CodeMirror and what it needs.\n")
	for _, name := range files {
		licence, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		for part := range strings.SplitSeq(strings.TrimSpace(string(licence)), "\n\n") {
			if part = strings.TrimSpace(part); !slices.Contains(seen, part) {
				seen = append(seen, part)
				fmt.Fprintf(&text, "\n%s\n", strings.ReplaceAll(part, "*/", "* /"))
			}
		}
	}
	text.WriteString("*/\n")
	return text.Bytes(), nil
}

// runIn runs a command in a folder. Its error contains what the command printed.
func runIn(folder, name string, args ...string) error {
	c := exec.Command(name, args...)
	c.Dir = folder
	if output, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(c.Args, " "), err, output)
	}
	return nil
}
