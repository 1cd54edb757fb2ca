package mutate

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Each operator finds the places for its mistake, and every mutant compiles. The table has
// for each mutant the lines that replace others; | separates lines.
func TestOperators(t *testing.T) {
	for _, c := range []struct {
		operator, name, source string
		want                   []string
	}{
		{"drop-comparison", "a script", "var remove = `if redis.call('GET',  KEYS[1])==ARGV[1] then return redis.call('del', KEYS[1]) end return 0`",
			[]string{"var remove = `if true then return redis.call('del', KEYS[1]) end return 0`"}},
		{"drop-comparison", "a script with a variable", `
			var remove = "local v = redis.call(\"get\", KEYS[1]) if v ~= ARGV[1] then return 0 end return redis.call(\"del\", KEYS[1])"`,
			[]string{`var remove = "local v = redis.call(\"get\", KEYS[1]) if false then return 0 end return redis.call(\"del\", KEYS[1])"`}},
		{"drop-comparison", "SET with NX in a script", "var set = `return redis.call(\"SET\", KEYS[1], ARGV[1], \"NX\", \"PX\", ARGV[2])`",
			[]string{"var set = `return redis.call(\"SET\", KEYS[1], ARGV[1], \"PX\", ARGV[2])`"}},
		{"drop-comparison", "a script that compares nothing of its arguments", "var get = `if redis.call('exists', KEYS[1]) == 1 then return 1 end return 0`", nil},
		{"drop-comparison", "a text that is no script", "var text = `if v == ARGV[1] then`", nil},
		{"drop-comparison", "SQL", "const release = `DELETE FROM locks WHERE name = $1 AND holder = $2`",
			[]string{"const release = `DELETE FROM locks WHERE name = $1 AND (holder = $2 OR 1 = 1)`"}},
		{"drop-comparison", "SQL that sets the holder", "const take = `UPDATE locks SET holder = ?2 WHERE name = ?1 AND expires_at < ?3`", nil},
		{"drop-comparison", "a transaction of etcd", `
			func acquire(ctx context.Context, c *clientv3.Client) error {
				free := clientv3.Compare()
				return c.Txn(ctx).If(free).Then()
			}`, []string{"return c.Txn(ctx).If([]clientv3.Cmp{free}[:0]...).Then()"}},
		{"drop-comparison", "SET with NX", `
			func acquire(ctx context.Context, c client) error { return c.Do(ctx, "SET", "key", "value", "nx", "PX", 100) }`,
			[]string{`func acquire(ctx context.Context, c client) error { return c.Do(ctx, "SET", "key", "value", "PX", 100) }`}},
		{"drop-comparison", "Go", `
			func release(ctx context.Context, c client, own string) error {
				value, err := c.Get(ctx, "key")
				if err != nil || value != own {
					return err
				}
				isOwn := value == own
				_ = isOwn
				if len(value) == len(own) || value == "" {
					return nil
				}
				_, err = c.Del(ctx, "key")
				return err
			}`, []string{"if err != nil || value != own && false {", "isOwn := value == own || true"}},

		{"swap-order", "two requests with the tests of their errors", `
			func release(ctx context.Context, c client) error {
				n, err := c.Del(ctx, "key")
				if err != nil {
					return err
				}
				_, err = c.Get(ctx, "session")
				if n == 0 {
					return errLost
				}
				return err
			}`, []string{`_, err := c.Get(ctx, "session")|n, err := c.Del(ctx, "key")|if err != nil {|return err|}`}},
		{"swap-order", "the second request needs the answer to the first", `
			func acquire(ctx context.Context, c client) error {
				value, err := c.Get(ctx, "key")
				if err != nil {
					return err
				}
				err = c.Do(ctx, "SET", value)
				return err
			}`, nil},
		{"swap-order", "both declare a variable of their own", `
			func release(ctx context.Context, c client) {
				_, _ = c.Del(ctx, "a")
				_, _ = c.Del(ctx, "b")
			}`, []string{`_, _ = c.Del(ctx, "b")|_, _ = c.Del(ctx, "a")`}},

		{"ignore-answer", "an error, a refusal and a number", `
			func acquire(ctx context.Context, c client) error {
				set, err := c.SetNX(ctx, "key", "value", time.Second)
				if err != nil {
					return err
				}
				if !set {
					return errLost
				}
				n, err := c.Del(ctx, "other")
				if err == nil && n == 0 {
					err = errLost
				}
				return err
			}`, []string{"if err != nil && false {", "if !set && false {", "if err == nil && n == 0 && false {"}},
		{"ignore-answer", "cases, and success as the condition", `
			func acquire(ctx context.Context, c client) (*lease, error) {
				set, err := c.SetNX(ctx, "key", "value", time.Second)
				switch {
				case err == nil && set:
					return &lease{}, nil
				case errors.Is(err, errLost):
					return nil, errLost
				}
				return nil, err
			}`, []string{"case (err == nil || true) && set:", "case err == nil && (set || true):", "case errors.Is(err, errLost) && false:"}},
		{"ignore-answer", "an answer as the result", `
			func remove(ctx context.Context, c client) (bool, error) {
				n, err := c.Del(ctx, "key")
				return n > 0, err
			}`, []string{"return n > 0 || true, err"}},
		{"ignore-answer", "a variable that is computed from an answer", `
			func acquire(ctx context.Context, c client) error {
				n, _ := c.Del(ctx, "key")
				missing := 3 - n
				if missing > 0 {
					return errLost
				}
				if n > 1 {
					n = 1
				}
				return nil
			}`, nil},
		{"ignore-answer", "a request without a context", `
			func acquire(set func(key, value string) (bool, error), value string) error {
				_, err := set("key", value)
				if err != nil {
					return err
				}
				return nil
			}`, []string{"if err != nil && false {"}},
		{"ignore-answer", "no request", `
			func newValue() (string, error) {
				b := make([]byte, 16)
				_, err := rand.Read(b)
				if err != nil {
					return "", err
				}
				_, err = io.ReadFull(rand.Reader, b)
				if err != nil {
					return "", err
				}
				return string(b), nil
			}`, nil},

		{"skip-elapsed-check", "Before and After", `
			func check(expires, deadline time.Time) error {
				if time.Now().Before(expires) {
					return nil
				}
				now := time.Now()
				switch {
				case now.After(expires):
					return errLost
				case expires.After(now), !expires.Before(now):
					return nil
				case expires.After(deadline):
					return nil
				}
				return nil
			}`, []string{"if time.Now().Before(expires) || true {", "case now.After(expires) && false:",
			"case expires.After(now) || true, !expires.Before(now):", "case expires.After(now), !expires.Before(now) || true:"}},
		{"skip-elapsed-check", "a duration", `
			func check(start, expires time.Time, ttl time.Duration) error {
				left := time.Until(expires)
				if left <= 0 || time.Since(start) > ttl {
					return errLost
				}
				if left < ttl {
					return nil
				}
				return nil
			}`, []string{"if left <= 0 && false || time.Since(start) > ttl {", "if left <= 0 || time.Since(start) > ttl && false {"}},

		{"count-lease-from-answer", "a variable", `
			func acquire(ctx context.Context, c client) (time.Time, error) {
				end := time.Now().Add(time.Second)
				_, err := c.SetNX(ctx, "key", "value", time.Second)
				return end, err
			}`, []string{`_, err := c.SetNX(ctx, "key", "value", time.Second); end = time.Now().Add(time.Second)`}},
		{"count-lease-from-answer", "fields with names and without", `
			func acquire(ctx context.Context, c client) (*lease, *lease, error) {
				a := &lease{"value", time.Now()}
				b := lease{expires: time.Now()}
				if err := c.Do(ctx, "SET"); err != nil {
					return nil, nil, err
				}
				return a, &b, nil
			}`, []string{"}; a.expires = time.Now()", "}; b.expires = time.Now()"}},
		{"count-lease-from-answer", "a reading that nobody uses later", `
			func acquire(ctx context.Context, c client) error {
				now := time.Now()
				_ = now
				return c.Do(ctx, "SET")
			}`, nil},

		{"callers-context", "a context that the caller cannot end", `
			func acquire(ctx context.Context, c client) {
				_ = c.Do(context.WithoutCancel(ctx), "DEL")
				bounded, cancel := context.WithTimeout(context.Background(), time.Second)
				defer cancel()
				_ = c.Do(bounded, "DEL")
			}`, []string{`_ = c.Do(ctx, "DEL")`, "bounded, cancel := context.WithTimeout(ctx, time.Second)"}},
		{"callers-context", "no context of a caller, or none that it gave", `
			var base = context.Background()
			func acquire(ctx context.Context) context.Context {
				if ctx == nil {
					ctx = context.Background()
				}
				return ctx
			}`, nil},

		{"no-clean-up", "a failed attempt", `
			func (c client) tryAcquire(ctx context.Context) error {
				err := c.Do(ctx, "SET")
				if err != nil {
					_ = c.release(ctx)
					go c.release(ctx)
				}
				return err
			}
			func (c client) release(ctx context.Context) error { return c.Do(ctx, "DEL") }`,
			[]string{"if false { _ = c.release(ctx) }", "if false { go c.release(ctx) }"}},
		{"no-clean-up", "a release, a mutex and a map", `
			func (c client) Release(ctx context.Context) { _ = c.release(ctx) }
			func (c client) release(ctx context.Context) error { return nil }
			func (c client) acquire(mu *sync.Mutex, all map[string]bool) {
				mu.Lock()
				delete(all, "key")
				mu.Unlock()
			}`, nil},

		{"one-value", "crypto/rand and hex", `
			func newLease() *lease { return &lease{value: rand.Text()} }
			func text(b []byte) string { return hex.EncodeToString(b) }
			func checksum(sha []byte) string { return hex.EncodeToString(sha) }`,
			[]string{`func newLease() *lease { return &lease{value: "locked"} }`, `func text(b []byte) string { return "locked" }`}},
		{"one-value", "a function that makes a value", `
			func newToken() (string, error) { return "", nil }
			func acquire() (string, error) {
				token, err := newToken()
				return token, err
			}`, []string{`token, err := "locked", error(nil)`}},

		{"smaller-quorum", "a majority", `
			func majority(n int) int { return n/2 + 1 }
			func isMajority(yes int, nodes []client) bool { return yes > len(nodes)/2 }
			func middle(n int) int { return n / 2 }`,
			[]string{"func majority(n int) int { return n/2 }", "func isMajority(yes int, nodes []client) bool { return yes >= len(nodes)/2 }"}},

		{"no-expiry", "SETNX, SET and a script", `
			func acquire(ctx context.Context, c client, ttl time.Duration) {
				_, _ = c.SetNX(ctx, "key", "value", ttl)
				_ = c.Do(ctx, "SET", "key", "value", "PX", ttl)
			}
			var set = "redis.call('set', KEYS[1], ARGV[1], 'px', ARGV[2])"`,
			[]string{`_, _ = c.SetNX(ctx, "key", "value", 0)`, `_ = c.Do(ctx, "SET", "key", "value")`, `var set = "redis.call('set', KEYS[1], ARGV[1])"`}},
		{"no-expiry", "a lease of etcd", `
			func put(id int) { clientv3.OpPut("key", "value", clientv3.WithLease(id)) }`,
			[]string{`func put(id int) { clientv3.OpPut("key", "value") }`}},

		{"ttl-unit", "milliseconds, seconds and rounding", `
			func units(ttl time.Duration) []int64 {
				return []int64{
					ttl.Milliseconds(),
					int64(ttl / time.Millisecond),
					int64((ttl + time.Second - 1) / time.Second),
				}
			}
			var extend = "redis.call('pexpire', KEYS[1], ARGV[1])"`,
			[]string{"ttl.Microseconds(),", "int64(ttl / time.Second),", "int64(ttl / time.Second),", "var extend = \"redis.call('expire', KEYS[1], ARGV[1])\""}},
	} {
		t.Run(c.operator+"/"+c.name, func(t *testing.T) {
			mutants := mutantsOf(t, c.operator, "lock.go", withImports(c.source))
			var got []string
			for _, m := range mutants {
				got = append(got, strings.Join(m.After, "|"))
				if err := compile(m.Text); err != nil {
					t.Errorf("%s does not compile: %v", strings.Join(m.After, "|"), err)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("the mutants have\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// mutantsOf returns the mutants that one operator makes of one file.
func mutantsOf(t *testing.T, operator, name, text string) []Mutant {
	t.Helper()
	operators := slices.DeleteFunc(Operators(), func(o Operator) bool { return o.Name != operator })
	if len(operators) != 1 {
		t.Fatalf("no operator is called %s", operator)
	}
	mutants, err := Mutants([]Source{{"types.go", []byte(common)}, {name, []byte(text)}}, operators)
	if err != nil {
		t.Fatal(err)
	}
	return mutants
}

// common is a file of the package that each source in the table belongs to.
const common = `package lock

import (
	"context"
	"errors"
	"time"
)

var errLost = errors.New("lost")

type lease struct {
	value   string
	expires time.Time
}

type client struct{}

func (client) SetNX(context.Context, string, string, time.Duration) (bool, error) { return true, nil }
func (client) Get(context.Context, string) (string, error)                        { return "", nil }
func (client) Del(context.Context, string) (int, error)                           { return 0, nil }
func (client) Do(context.Context, ...any) error                                   { return nil }
`

// withImports returns a source as a file that imports what it uses.
func withImports(source string) string {
	imports := ""
	for _, where := range []string{"context", "crypto/rand", "encoding/hex", "errors", "io", "sync", "time", etcd} {
		name := where[strings.LastIndex(where, "/")+1:]
		if where == etcd {
			name = "clientv3"
		}
		if strings.Contains(source, name+".") {
			imports += "import " + name + " \"" + where + "\"\n"
		}
	}
	return "package lock\n" + imports + source
}

const etcd = "go.etcd.io/etcd/client/v3"

// etcdClient has as much of etcd's client as the table needs.
const etcdClient = `package clientv3

import "context"

type (
	Client   struct{}
	Txn      struct{}
	Cmp      struct{}
	OpOption struct{}
)

func Compare() Cmp                             { return Cmp{} }
func (*Client) Txn(context.Context) Txn        { return Txn{} }
func (t Txn) If(...Cmp) Txn                    { return t }
func (t Txn) Then() error                      { return nil }
func OpPut(key, value string, o ...OpOption)   {}
func WithLease(id int) OpOption                { return OpOption{} }
`

// compile checks the types of a file, together with common.
func compile(text []byte) error {
	_, err := checkTypes("lock", common, string(text))
	return err
}

func checkTypes(name string, texts ...string) (*types.Package, error) {
	set := token.NewFileSet()
	var files []*ast.File
	for _, text := range texts {
		f, err := parser.ParseFile(set, "", text, 0)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return (&types.Config{Importer: imports{}}).Check(name, set, files, nil)
}

// imports finds the packages that the examples import: those of the standard library, and a small
// copy of etcd's client.
type imports struct{}

// standard imports packages of the standard library from what the go command has compiled.
// The source is not found in a test that was built with -trimpath.
var standard = importer.ForCompiler(token.NewFileSet(), "gc", func(name string) (io.ReadCloser, error) {
	compiled, err := exec.Command("go", "list", "-export", "-f={{.Export}}", name).Output()
	if err != nil {
		return nil, err
	}
	return os.Open(strings.TrimSpace(string(compiled)))
})

func (imports) Import(name string) (*types.Package, error) {
	if name == etcd {
		return checkTypes("clientv3", etcdClient)
	}
	return standard.Import(name)
}

// A mutant has the line that differs, and the rest of the file as it was, except that an
// import that is no longer used is blank.
func TestMutant(t *testing.T) {
	mutants := mutantsOf(t, "one-value", "lock.go", `package lock

import (
	"crypto/rand"
)

// own is random.
var own = rand.Text() // once
`)
	want := Mutant{
		Operator: "one-value", File: "lock.go", Line: 8,
		Before: []string{"var own = rand.Text() // once"}, After: []string{`var own = "locked" // once`},
	}
	text := `package lock

import (
	_ "crypto/rand"
)

// own is random.
var own = "locked" // once
`
	if len(mutants) != 1 {
		t.Fatalf("%d mutants, want 1", len(mutants))
	}
	m := mutants[0]
	if m.Operator != want.Operator || m.File != want.File || m.Line != want.Line || !slices.Equal(m.Before, want.Before) || !slices.Equal(m.After, want.After) {
		t.Errorf("the mutant is %+v, want %+v", m, want)
	}
	if string(m.Text) != text {
		t.Errorf("the file of the mutant is\n%s\nwant\n%s", m.Text, text)
	}
}

// A script in a file of its own is mutated, too.
func TestScripts(t *testing.T) {
	for operator, want := range map[string]string{
		"drop-comparison": "if true then",
		"ttl-unit":        "return redis.call('expire', KEYS[1], ARGV[2])",
	} {
		mutants := mutantsOf(t, operator, "extend.lua", `if redis.call("get", KEYS[1]) == ARGV[1] then
	return redis.call('pexpire', KEYS[1], ARGV[2])
end
`)
		if len(mutants) != 1 || !slices.Equal(mutants[0].After, []string{want}) {
			t.Errorf("%s makes %+v, want one mutant with the line %q", operator, mutants, want)
		}
	}
}

// A file that is not valid Go has no mutants, and the error says where it is wrong.
func TestInvalidSource(t *testing.T) {
	_, err := Mutants([]Source{{"lock.go", []byte("package lock\nfunc {")}}, Operators())
	if err == nil || !strings.Contains(err.Error(), "lock.go:2:") {
		t.Errorf("the error is %v, want one that names lock.go:2", err)
	}
}

// Every operator has a name and a description of its own.
func TestOperatorNames(t *testing.T) {
	seen := map[string]bool{}
	for _, o := range Operators() {
		if o.Name == "" || o.Breaks == "" || seen[o.Name] || seen[o.Breaks] {
			t.Errorf("%q (%q): the name or the description is missing, or another operator has it", o.Name, o.Breaks)
		}
		seen[o.Name], seen[o.Breaks] = true, true
	}
}
