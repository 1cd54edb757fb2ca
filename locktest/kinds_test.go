package locktest_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/reports"
)

// A kindOfLock is an example of a kind of lock in testdata. A change of a few words makes
// it wrong.
type kindOfLock struct {
	kind string // its folder
	// mistake is what the changed lock does wrong. The change replaces the first words
	// that equal from.
	mistake, from, to string
	// violates is the rule that the changed lock violates in the tests whose names match
	// run, a pattern for go test.
	violates, run string
	// says is a part of what the test prints, beyond the mistakes; "" is anything.
	says string
}

var kindsOfLocks = []kindOfLock{
	{
		kind: "takeover", mistake: "a client takes over a row whose lease has not ended",
		from: "WHERE old.until < clock_timestamp()", to: "WHERE true",
		violates: "lease-exclusion", run: "^TestTakeover$/^claims$",
	},
	{
		kind: "takeover", mistake: "no client takes over a row whose lease has ended",
		from: "WHERE old.until < clock_timestamp()", to: "WHERE false",
		violates: "progress", run: "^TestTakeover$/^holder-dies$",
	},
	{
		kind: "readwrite", mistake: "the writer ignores the readers in the sorted set",
		from: `redis.call("zcard", KEYS[2]) > 0`, to: "false",
		violates: "lease-exclusion", run: "^TestStrings$",
	},
	{
		kind: "readwrite", mistake: "the writer ignores the readers in the hash",
		from: `
if redis.call("exists", KEYS[1]) == 1 then
	return 0
end
redis.call("hset"`, to: `
if redis.call("hget", KEYS[1], "mode") == "write" then
	return 0
end
redis.call("hset"`,
		violates: "lease-exclusion", run: "^TestHash$",
	},
	{
		kind: "fair", mistake: "a client that has stopped asking keeps its place in the queue",
		from: `"zrem", KEYS[2], gone`, to: `"exists", KEYS[2]`,
		violates: "progress", run: "^TestFair$",
	},
	{
		kind: "semaphore", mistake: "two clients get a permit at the same time",
		from: "permits: 1", to: "permits: 2",
		violates: "lease-exclusion", run: "^TestSemaphore$", says: "test it with one permit",
	},
	{
		kind: "blocking", mistake: "each try of a call has a value of its own",
		from: "own.end = ", to: "own.value, own.end = rand.Text(), ",
		violates: "own key in the way", run: "^TestBlocking$",
	},
	{
		kind: "blocking", mistake: "the lease does not declare that it counts from the last try",
		from: ") Expires() ", to: ") ends() ",
		violates: "section-exclusion", run: "^TestBlocking$/^ttl$",
	},
	{
		kind: "renewing", mistake: "a renewal adds a TTL to the old end",
		from: "end = start.Add(l.ttl)", to: "end = end.Add(l.ttl)",
		violates: "lease-exclusion", run: "^TestRenewing$",
	},
	{
		kind: "renewing", mistake: "the lease does not notify its holder of a loss",
		from: "close(l.lost)", to: "_ = l.lost",
		violates: "claim: notifies", run: "^TestRenewing$/^loss$",
	},
	{
		kind: "dialing", mistake: "go-redis sends a command again if the answer does not come",
		from: "MaxRetries: -1", to: "MaxRetries: 3",
		violates: "own key in the way", run: "^TestDialing$",
	},
	{
		kind: "asyncrelease", mistake: "release returns before the key is removed",
		from: "case err := <-l.released:\n\t\treturn err", to: "default:\n\t\treturn nil",
		violates: "release-answer", run: "^TestAsyncRelease$",
	},
	{
		kind: "reentrant/byhandle", mistake: "the first leave releases the lock",
		from: "r.count > 1", to: "r.count > 2",
		violates: "lease-exclusion", run: "^TestReentrantByHandle$",
	},
	{
		kind: "reentrant/byhandle", mistake: "the test has one handle for all calls of a client",
		from: "return adapter{newHandle}, nil", to: "handle := newHandle()\n\t\treturn adapter{func() *reentrant { return handle }}, nil",
		violates: "lease-exclusion", run: "^TestReentrantByHandle$/^handles$", says: "let its test make a new handle for each call of acquire",
	},
	{
		kind: "reentrant/bycontext", mistake: "the first release releases the lock",
		from: "l.count.Add(-1) > 0", to: "l.count.Add(-1) > 1",
		violates: "lease-exclusion", run: "^TestReentrantByContext$",
	},
}

// The examples of the documents pass, and the suite finds a mistake in each of them. Each
// runs as its author would run it: by go test, in a process of its own.
func TestKindsOfLocks(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and runs a test program for each lock")
	}
	for i, k := range kindsOfLocks {
		folder := "./testdata/" + k.kind
		if i == 0 || kindsOfLocks[i-1].kind != k.kind {
			t.Run(k.kind, func(t *testing.T) {
				if out, err := exec.CommandContext(t.Context(), "go", "test", "-vet=off", folder).CombinedOutput(); err != nil {
					t.Errorf("the lock fails: %v\n%s", err, out)
				}
			})
		}
		t.Run(k.kind+"/"+k.mistake, func(t *testing.T) {
			report := filepath.Join(t.TempDir(), "report.json")
			cmd := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-overlay", k.writeOverlay(t), "-run", k.run, folder)
			cmd.Env = append(os.Environ(), "LOCKSIM_REPORT="+report)
			out, err := cmd.CombinedOutput()
			if err == nil || !slices.Contains(rulesIn(t, report), k.violates) {
				t.Errorf("go test ends with %v; want a failure that violates %s:\n%s", err, k.violates, out)
			}
			if !strings.Contains(strings.Join(strings.Fields(string(out)), " "), k.says) {
				t.Errorf("go test does not print %q:\n%s", k.says, out)
			}
		})
	}
}

// Each example in testdata is in kindsOfLocks, and in the table of the documents.
func TestKindsOfLocksAreListed(t *testing.T) {
	page, err := os.ReadFile("../docs/testing-your-lock.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := 0
	err = fs.WalkDir(os.DirFS("testdata"), ".", func(file string, _ fs.DirEntry, err error) error {
		kind := path.Dir(file)
		if err != nil || !strings.HasSuffix(file, "_test.go") || kind == "naive" || kind == "learn" { // these are wrong on purpose, or belong to the chapters
			return err
		}
		examples++
		if !slices.ContainsFunc(kindsOfLocks, func(k kindOfLock) bool { return k.kind == kind }) {
			t.Errorf("kindsOfLocks has no change of testdata/%s", file)
		}
		if !strings.Contains(string(page), "](../locktest/testdata/"+kind+") |\n") {
			t.Errorf("docs/testing-your-lock.md has no row with the example testdata/%s", kind)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if examples < 10 {
		t.Errorf("testdata has %d examples, want at least 10", examples)
	}
}

// writeOverlay writes the changed lock. It returns the name of a file that makes the go
// command read the changed lock instead of the example.
func (k kindOfLock) writeOverlay(t *testing.T) string {
	t.Helper()
	file, err := filepath.Abs(filepath.Join("testdata", k.kind, filepath.Base(k.kind)+"_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(code), k.from) {
		t.Fatalf("%s does not have the words %q, which the change replaces", file, k.from)
	}
	changed, overlay := filepath.Join(t.TempDir(), "changed.go"), filepath.Join(t.TempDir(), "overlay.json")
	text, err := json.Marshal(map[string]map[string]string{"Replace": {file: changed}})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{changed: strings.Replace(string(code), k.from, k.to, 1), overlay: string(text)} {
		if err := os.WriteFile(name, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return overlay
}

// rulesIn returns the rules that are violated according to a report of the suite; none if
// there is no report, because the lock does not compile.
func rulesIn(t *testing.T, report string) (rules []string) {
	t.Helper()
	f, err := os.Open(report)
	if err != nil {
		return nil
	}
	defer f.Close()
	suite, err := reports.ReadSuite(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range suite.Tests {
		for _, m := range test.Mistakes {
			rules = append(rules, m.Rules...)
		}
	}
	return rules
}
