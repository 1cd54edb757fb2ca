package exercises

import (
	"bufio"
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/gotool"
	"github.com/locksim/locksim/internal/lazy"
	"github.com/locksim/locksim/trace"
)

// graderFiles has the program that runs a lock in worlds.
//
//go:embed _grader
var graderFiles embed.FS

// A Trial is the lock of a reader, compiled into a program that runs it in worlds.
type Trial struct {
	dir, temp string
	env       []string
	path      string
	sources   []byte
	// methods are the methods of a lease, with their types.
	methods map[string]string
	// printed is what the lock has printed in the last run.
	printed *printedText
}

// OpenTrial finds the lock in a folder. Its error says in the reader's words what is wrong
// with the folder. The caller must call Close.
func OpenTrial(ctx context.Context, dir string) (*Trial, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir) // the go command resolves links, and the overlay does not
	}
	if err != nil {
		return nil, err
	}
	if _, err := exec.LookPath("go"); err != nil {
		return nil, errors.New("the command go is not found; install Go from https://go.dev/dl, or add it to PATH")
	}
	for _, name := range []string{"go.mod", "lock.go", "lock_test.go"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return nil, missingFile(name, err)
		}
	}
	temp, err := os.MkdirTemp("", "locksim-learn-")
	if err != nil {
		return nil, err
	}
	t := &Trial{dir: dir, temp: temp}
	if err := t.find(ctx); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// missingFile says that a file of the exercise is missing, and what it is for.
func missingFile(name string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	purpose := map[string]string{
		"go.mod":       "this is no folder of locksim learn new DIR",
		"lock.go":      "it has the lock, which is the exercise",
		"lock_test.go": "without it, go mod tidy removes locksim from go.mod, and nothing can be checked",
	}[name]
	return fmt.Errorf("there is no file %s: %s; locksim learn new writes a new folder, from which you can copy the file", name, purpose)
}

// Close removes the temporary files.
func (t *Trial) Close() error { return os.RemoveAll(t.temp) }

// A listed is what go list says about the package of the lock.
type listed struct {
	ImportPath, Name string
	GoFiles          []string
}

// find finds the package of the lock, and reads its files.
func (t *Trial) find(ctx context.Context) error {
	found, err := t.list(ctx)
	if err != nil && (strings.Contains(err.Error(), "workspace") || strings.Contains(err.Error(), "does not contain package")) {
		t.env = []string{"GOWORK=off"} // the folder is in a workspace that does not use it
		found, err = t.list(ctx)
	}
	if err != nil {
		return err
	}
	if found.Name == "main" {
		return errors.New("lock.go is package main, which no other program can import; name it package lock")
	}
	t.path = found.ImportPath
	for _, name := range found.GoFiles {
		data, err := os.ReadFile(filepath.Join(t.dir, name))
		if err != nil {
			return err
		}
		t.sources = append(t.sources, data...)
	}
	return nil
}

// list asks the go command for the package of the lock.
func (t *Trial) list(ctx context.Context) (*listed, error) {
	cmd := t.command(ctx, "go", "list", "-find", "-json=ImportPath,Name,GoFiles", ".")
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, t.goError(stderr.String())
	}
	found := new(listed)
	if err := json.Unmarshal(out.Bytes(), found); err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	return found, nil
}

// command returns a command that runs in the folder of the lock.
func (t *Trial) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := gotool.Command(ctx, name, args...)
	cmd.Dir = t.dir
	cmd.Env = append(os.Environ(), append(t.env, "GOTMPDIR="+t.temp)...)
	return cmd
}

// graderFolder is the folder of the grader in the module of the lock, where only the overlay
// has it.
const graderFolder = "locksim-learn-grader"

// program returns the name of the compiled grader.
func (t *Trial) program() string { return filepath.Join(t.temp, "grader.exe") }

// Build compiles the lock into the grader. If the lock does not compile, the error has the
// lines of the compiler.
func (t *Trial) Build(ctx context.Context) error {
	text, err := graderFiles.ReadFile("_grader/main.go")
	if err != nil {
		panic(err) // impossible: the file is part of the program
	}
	text = bytes.Replace(text, []byte(`exercise "example.com/exercise"`), fmt.Appendf(nil, "exercise %q", t.path), 1)
	file, overlay := filepath.Join(t.temp, "main.go"), filepath.Join(t.temp, "overlay.json")
	mapping, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(t.dir, graderFolder, "main.go"): file}})
	if err != nil {
		return err
	}
	if err := errors.Join(os.WriteFile(file, text, 0o600), os.WriteFile(overlay, mapping, 0o600)); err != nil {
		return err
	}
	cmd := t.command(ctx, "go", "build", "-ldflags=-s -w", "-overlay="+overlay, "-o", t.program(), "./"+graderFolder)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return t.goError(out.String())
	}
	return nil
}

// compilerLine matches an error of the compiler: the file, the line and column, the text.
var compilerLine = lazy.Regexp(`(?m)^(\S*\.go):(\d+:\d+): (.*)$`)

// movedClone matches what the go command says if go.mod replaces locksim by a folder that is
// not there, or that is no module.
var movedClone = lazy.Regexp(`github\.com/locksim/locksim\S*(?:: replacement directory (.+) does not exist| \(replaced by (.+?)\): reading )`)

// goError returns what a command of Go says, in the reader's words if it is about the folder
// as a whole.
func (t *Trial) goError(out string) error {
	out = strings.TrimSpace(out)
	if m := movedClone().FindStringSubmatch(out); m != nil {
		return fmt.Errorf("the clone of locksim that go.mod names is not at %s; correct the path in go.mod, or run: go mod edit -replace github.com/locksim/locksim=PATH-OF-THE-CLONE", m[1]+m[2])
	}
	switch {
	case strings.Contains(out, "missing go.sum entry"), strings.Contains(out, "updates to go.mod needed"),
		strings.Contains(out, "go mod tidy"), strings.Contains(out, "no required module provides package"):
		why, _, _ := strings.Cut(firstLines(out, 1), " (imported by")
		return gotool.Lines("Go does not know yet which modules the lock needs; run go mod tidy in the folder. The go command says:\n" + why)
	}
	var own, signature []string
	for _, m := range compilerLine().FindAllStringSubmatch(out, -1) {
		if strings.Contains(m[1], graderFolder) || filepath.Dir(m[1]) == t.temp {
			signature = append(signature, m[3])
			continue
		}
		own = append(own, fmt.Sprintf("%s:%s: %s", strings.TrimPrefix(filepath.ToSlash(m[1]), "./"), m[2], m[3]))
	}
	switch {
	case len(own) > 0:
		return gotool.Lines("the lock does not compile:\n" + strings.Join(own, "\n"))
	case len(signature) > 0:
		return gotool.Lines("the lock has other declarations than the exercise; it must have\n" + signatures + "The compiler says: " + signature[0])
	}
	return gotool.Lines("the lock cannot be compiled; the go command says:\n" + firstLines(out, 20))
}

// signatures are the declarations that the grader needs.
const signatures = `  var ErrNotAcquired error
  func New(nodes []*redis.Client, key string, ttl time.Duration) *Lock
  func (*Lock) Acquire(ctx context.Context) (*Lease, error)
  func (*Lease) Release(ctx context.Context) error
  func (*Lease) Expires() time.Time
`

// firstLines returns the first lines of a text, at most n.
func firstLines(text string, n int) string {
	lines := strings.Split(text, "\n")
	return strings.Join(lines[:min(n, len(lines))], "\n")
}

// A record is what happened in one world; the grader writes it.
type record struct {
	Name   string
	Trace  *trace.Trace
	Ending *struct{ Rule, Why, Stacks string }
	Error  string
	world  trialWorld
}

// patience is how much real time a world may take.
const patience = 10 * time.Second

// run runs worlds and returns their records. If the lock ends the program, or never ends,
// the last record says so, and the worlds after it are missing.
func (t *Trial) run(ctx context.Context, worlds []trialWorld) ([]record, error) {
	output := filepath.Join(t.temp, "records.json")
	order := struct {
		Output   string
		Patience time.Duration
		Worlds   []orderedWorld
	}{output, patience, orderedWorlds(worlds)}
	text, err := json.Marshal(order)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, time.Minute+time.Duration(len(worlds))*patience)
	defer cancel()
	cmd := t.command(limited, t.program())
	var stderr bytes.Buffer
	t.printed = new(printedText)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(text), t.printed, io.MultiWriter(&stderr, t.printed)
	runErr := cmd.Run()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	data, err := os.ReadFile(output)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	records, isComplete, err := t.read(data)
	if err != nil {
		return nil, err
	}
	for i := range records {
		if i >= len(worlds) || records[i].Name != worlds[i].address() {
			return nil, errors.New("the program that runs the lock has written something else than it was to run; does the lock's code write to its file?")
		}
		records[i].world = worlds[i]
	}
	isStuck := len(records) > 0 && records[len(records)-1].Trace == nil && records[len(records)-1].Ending != nil
	if isComplete && (isStuck || len(records) == len(worlds)) {
		return records, nil
	}
	if len(records) >= len(worlds) {
		return nil, fmt.Errorf("the grader ended early: %v", runErr)
	}
	return append(records, t.deathRecord(worlds[len(records)], limited.Err() != nil, cmd, stderr.String())), nil
}

// An orderedWorld is a world in the form in which the grader reads it.
type orderedWorld struct {
	Name, Text, Fencing string
	Seed                uint64
	Strangers           []string
	Tokens              bool
}

func orderedWorlds(worlds []trialWorld) (all []orderedWorld) {
	for _, w := range worlds {
		o := orderedWorld{Name: w.address(), Text: w.text, Fencing: w.fencing(), Seed: w.seed, Tokens: w.stage == lastStage}
		for _, letter := range w.strangers {
			o.Strangers = append(o.Strangers, w.client(letter))
		}
		all = append(all, o)
	}
	return all
}

// read reads what the grader wrote. A last line that is cut off is left out.
func (t *Trial) read(data []byte) (records []record, isComplete bool, err error) {
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data)+1)
	for n := 0; lines.Scan(); n++ {
		line := lines.Bytes()
		if n == 0 {
			if err := json.Unmarshal(line, &t.methods); err != nil {
				return nil, false, fmt.Errorf("the grader: %w", err)
			}
			continue
		}
		if string(line) == `"end"` {
			return records, true, nil
		}
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			break
		}
		if r.Trace != nil {
			if err := r.Trace.Validate(); err != nil {
				return nil, false, fmt.Errorf("the module uses another version of locksim than this command: %w", err)
			}
		}
		records = append(records, r)
	}
	return records, false, nil
}

// deathRecord is the record of a world in which the program of the lock ended.
func (t *Trial) deathRecord(w trialWorld, isLate bool, cmd *exec.Cmd, stderr string) record {
	r := record{Name: w.address(), world: w}
	ending := struct{ Rule, Why, Stacks string }{trace.ConductPanic, "", stderr}
	switch i := max(strings.LastIndex("\n"+stderr, "\npanic: "), strings.LastIndex("\n"+stderr, "\nfatal error: ")); {
	case isLate:
		ending.Rule, ending.Why = trace.ConductHang, "the lock's code did not end"
	case i >= 0:
		ending.Why, _, _ = strings.Cut(stderr[i:], "\n")
		ending.Stacks = stderr[i:]
	default:
		ending.Rule, ending.Why = conductExit, cmd.ProcessState.String()
	}
	r.Ending = &ending
	return r
}

// missingMethod returns why a lease does not have the method that a stage needs, or "".
func (t *Trial) missingMethod(s Stage) string {
	switch is, has := t.methods[s.Method.Name]; {
	case s.Method.Name == "", is == s.Method.Type:
		return ""
	case has:
		return fmt.Sprintf("The method %s of a Lease has the type %s; this stage needs %s.", s.Method.Name, is, s.Method.Declaration)
	}
	return fmt.Sprintf("A Lease has no method %s; this stage needs %s.", s.Method.Name, s.Method.Declaration)
}
