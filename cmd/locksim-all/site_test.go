package main

import (
	"html"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

var (
	reference = regexp.MustCompile(`<(\w+)[^>]* (href|src)="([^"]*)"`)
	identity  = regexp.MustCompile(` id="([^"]*)"`)
)

// checkLinks is a command of scripts: each link of each page in a folder leads to a page of the
// folder, and to something on it. Nothing but a link that a reader follows leads elsewhere.
func checkLinks(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[0])
	pages := map[string]string{}
	ids := map[string]map[string]bool{}
	ts.Check(fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".html" {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		pages[name], ids[name] = string(data), map[string]bool{}
		for _, match := range identity.FindAllStringSubmatch(pages[name], -1) {
			ids[name][html.UnescapeString(match[1])] = true
		}
		return err
	}))
	count := 0
	for name, text := range pages {
		for _, match := range reference.FindAllStringSubmatch(text, -1) {
			element, address := match[1], html.UnescapeString(match[3])
			to, err := url.Parse(address)
			if err != nil {
				ts.Fatalf("%s: %q is no address: %v", name, address, err)
			}
			if to.Scheme == "data" || to.Scheme != "" && element == "a" {
				continue
			}
			if to.Scheme != "" || to.Host != "" {
				ts.Fatalf("%s: the element %s asks for %s", name, element, address)
			}
			target := name
			if to.Path != "" {
				target = path.Join(path.Dir(name), to.Path)
			}
			switch known, ok := ids[target]; {
			case !ok:
				ts.Fatalf("%s: the link to %s leads nowhere", name, address)
			case to.Fragment != "" && !known[to.Fragment] && !strings.HasPrefix(target, "play/"): // there it is the state
				ts.Fatalf("%s: the page of the link to %s has no such place", name, address)
			}
			count++
		}
	}
	if count < 1000 || !strings.Contains(pages["index.html"], "questions/index.html") {
		ts.Fatalf("only %d links were found, so the check does not see them", count)
	}
}
