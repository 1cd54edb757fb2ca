// Package page contains the files of the playground's page.
package page

import "embed"

//go:embed *.html *.css *.js
var files embed.FS

// Files returns the files of the page by their names.
func Files() (map[string][]byte, error) {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil, err
	}
	all := map[string][]byte{}
	for _, e := range entries {
		if all[e.Name()], err = files.ReadFile(e.Name()); err != nil {
			return nil, err
		}
	}
	return all, nil
}
