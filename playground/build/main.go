// Command build makes the folder of the playground: a page, and two engines. An engine is the
// simulator as a WebAssembly program, which runs in the browser. Any server of static files can
// serve the folder. Run it in a clone:
//
//	go run ./playground/build OUT/
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/locksim/locksim/internal/diagram"
	"github.com/locksim/locksim/internal/playground"
	"github.com/locksim/locksim/internal/slide"
	"github.com/locksim/locksim/internal/webpage"
	"github.com/locksim/locksim/scenarios"

	_ "github.com/locksim/locksim/playground/locks/systems"

	// These imports register the scenarios on their systems, which no engine can run. So the page
	// can say which command runs them.
	_ "github.com/locksim/locksim/servers/consul"
	_ "github.com/locksim/locksim/servers/kubernetes"
	_ "github.com/locksim/locksim/servers/sqlite"
)

// first is the scenario that the page shows before the engine has been loaded.
const first = "gc-pause"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./playground/build OUT/")
		os.Exit(2)
	}
	if err := build(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

// build writes the folder of the playground.
func build(out string) error {
	root, err := output("go", "list", "-m", "-f", "{{.Dir}}", "github.com/locksim/locksim")
	if err != nil {
		return err
	}
	goroot, err := output("go", "env", "GOROOT")
	if err != nil {
		return err
	}
	files, err := readPage(filepath.Join(root, "playground", "page"))
	if err != nil {
		return err
	}
	if files["index.html"], err = fillIn(files["index.html"]); err != nil {
		return err
	}
	dangerMap, err := os.ReadFile(filepath.Join(root, "reports", "html", "explored.css"))
	if err != nil {
		return err
	}
	style := webpage.Style() + string(dangerMap) + diagram.Style() + slide.Style()
	files["style.css"] = append([]byte(style), files["style.css"]...)
	if files["wasm_exec.js"], err = os.ReadFile(filepath.Join(goroot, "lib", "wasm", "wasm_exec.js")); err != nil {
		return err
	}
	for _, engine := range []string{"engine", "systems"} {
		if files[engine+".wasm.gz"], err = buildEngine(root, engine); err != nil {
			return err
		}
	}
	files["schema.json"] = []byte(scenarios.Schema())
	if files["editor.js"], err = bundleEditor(filepath.Join(root, "playground", "editor")); err != nil {
		fmt.Fprintf(os.Stderr, "The page shows the scenario in a plain text field, because npm did not bring the editor: %v\n", err)
		delete(files, "editor.js")
		files["index.html"] = bytes.Replace(files["index.html"], []byte("<div id=\"editor\" hidden></div>\n"), nil, 1)
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(out, name), data, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// readPage returns the files of the page by their names.
func readPage(folder string) (map[string][]byte, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, e := range entries {
		if files[e.Name()], err = os.ReadFile(filepath.Join(folder, e.Name())); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// fillIn puts into the page what it needs before an engine is loaded: the catalogue of scenarios,
// the locks of the larger engine, the answer for the first scenario, and the fill patterns of the
// diagram.
func fillIn(index []byte) ([]byte, error) {
	catalogue, err := json.Marshal(playground.Catalogue()) // escapes what could end a script
	if err != nil {
		return nil, err
	}
	kinds, err := json.Marshal(playground.Locks())
	if err != nil {
		return nil, err
	}
	request, err := json.Marshal(playground.Request{Kind: playground.RunKind, Scenario: first, Seed: 1})
	if err != nil {
		return nil, err
	}
	answer := playground.Serve(request)
	if !bytes.Contains(answer, []byte(`"runs"`)) {
		return nil, fmt.Errorf("%s cannot be run: %s", first, answer)
	}
	return []byte(strings.NewReplacer(
		"<!-- patterns -->", webpage.Render(diagram.Patterns()),
		"<!-- catalogue -->", `<script type="application/json" id="catalogue">`+string(catalogue)+"</script>",
		"<!-- locks -->", `<script type="application/json" id="locks">`+string(kinds)+"</script>",
		"<!-- first -->", `<script type="application/json" id="first">`+string(answer)+"</script>",
	).Replace(string(index))), nil
}

// buildEngine compiles an engine, and compresses it.
func buildEngine(root, name string) ([]byte, error) {
	scratch, err := os.MkdirTemp("", "playground")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	wasm := filepath.Join(scratch, "engine.wasm")
	// Without the table of symbols the program is smaller. Stack traces still have the names
	// of functions.
	compile := exec.Command(filepath.Join(root, "platforms", "js"), "-o", wasm, "-ldflags=-s -w", "./playground/"+name)
	compile.Dir, compile.Stdout, compile.Stderr = root, os.Stderr, os.Stderr
	if err := compile.Run(); err != nil {
		return nil, fmt.Errorf("platforms/js: %w", err)
	}
	data, err := os.ReadFile(wasm)
	if err != nil {
		return nil, err
	}
	var small bytes.Buffer
	z, _ := gzip.NewWriterLevel(&small, gzip.BestCompression) // the level is valid
	if _, err := z.Write(data); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	fmt.Fprintf(os.Stderr, "%s.wasm: %.1f MB, with gzip %.1f MB\n", name, float64(len(data))/1e6, float64(small.Len())/1e6)
	return small.Bytes(), nil
}

// output runs a command and returns what it prints, without the line break at the end.
func output(name string, args ...string) (string, error) {
	c := exec.Command(name, args...)
	c.Stderr = os.Stderr
	text, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", strings.Join(c.Args, " "), err)
	}
	return strings.TrimSpace(string(text)), nil
}
