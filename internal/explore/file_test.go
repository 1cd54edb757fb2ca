package explore

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/servers/redis"
	"github.com/locksim/locksim/sim"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// workload returns the text of a base for these tests. client-1 holds the lock for 12 of
// its 30 seconds, and client-2 asks for it every three seconds.
func workload(lock string) string {
	return fmt.Sprintf(`title: a base has no story
lock: {kind: %s, ttl: 30s}
clients:
  client-1: {works: 12s, retry-every: 3s}
  client-2: {starts: 1s after the start, works: 1s, retry-every: 3s}
horizon: 5m
progress-within: 1m30s
`, lock)
}

// impatient returns the workload with clients that repeat a request if it is not answered
// within 9 seconds.
func impatient(lock string) string {
	return strings.NewReplacer("retry-every: 3s}", "retry-every: 3s, gives-up: 9s, if-no-answer: resends}").Replace(workload(lock))
}

// extending returns the workload with work that takes longer than the TTL, and a client
// that extends its lease.
func extending(lock string) string {
	return strings.Replace(workload(lock), "works: 12s,", "works: 36s, extends-every: 15s,", 1)
}

// A fileCase is a world for which a file is written.
type fileCase struct {
	name   string
	base   string
	seed   uint64
	change scenarios.Change
	faults []runs.Fault
	// off and on are the gravest properties that must be violated without and with fencing
	// tokens, because of the faults; "" is none.
	off, on checks.Property
	// wantTexts are texts that the file must contain, in addition to those that describe
	// the faults.
	wantTexts []string
}

const second = time.Second

var (
	pauseBeforeWrite = item{Kind: "pause", Target: "client-1", Before: "client-1 write", For: 31 * second}.fault()
	cutOff           = item{Kind: "partition", Target: "client-1", Others: []string{"redis-4", "redis-5"}, For: 11 * second}.fault()
)

var fileCases = []fileCase{
	{
		name: "pause-client", base: workload("redlock"), seed: 1, faults: []runs.Fault{pauseBeforeWrite},
		off: checks.NoLostUpdate, on: checks.SectionExclusion,
		wantTexts: []string{"- client-1's keys expired while client-1 was paused", "Just before it writes, it pauses for 31s.", "assumption: process"},
	},
	{
		name: "suspend-client", base: workload("single, clock: wall"), seed: 7,
		faults: []runs.Fault{item{Kind: "pause", Target: "client-1", How: "suspend", Before: "client-1 read", For: 31 * second}.fault()},
		// The lock uses the wall clock, which continues during the pause.
		off: checks.NoLostUpdate, on: checks.SectionExclusion,
		wantTexts: []string{"# Run it with: locksim run FILE --seed 7"},
	},
	{
		name: "hold-write-request", base: workload("single"), seed: 1,
		faults: []runs.Fault{item{Kind: "hold", Target: "client-1's write request to storage", For: 31 * second}.fault()},
		off:    checks.NoLostUpdate, on: checks.SectionExclusion,
		wantTexts: []string{"- client-1's write request to storage arrived after client-2 released", "the write arrives after client-1's lease has ended"},
	},
	{
		name: "hold-write-request, sent again", base: impatient("redlock"), seed: 1,
		faults:    []runs.Fault{item{Kind: "hold", Target: "client-1's write request to storage", For: 31 * second}.fault()},
		off:       checks.NoLostUpdate,
		wantTexts: []string{"client-1 gets no answer, sends its write again and releases.", "client-1's first request lands over client-2's update"},
	},
	{
		name: "jump-forward-node+partition-minority", base: workload("redlock"), seed: 1,
		faults: []runs.Fault{cutOff, item{Kind: "jump", Target: "redis-3", Before: "client-1 work", By: 31 * second}.fault()},
		off:    checks.NoLostUpdate, on: checks.LeaseExclusion,
		wantTexts: []string{"assumption: clock", "- client-2 holds redis-4 before client-1 worked", "client-1's key on redis-3 expires immediately"},
	},
	{
		name: "crash-node+partition-minority", base: workload("redlock"), seed: 3,
		change: diskChange("redis-3", sim.NoPersistence),
		faults: []runs.Fault{cutOff, item{Kind: "crash", Target: "redis-3", When: "client-1 read", For: second / 10}.fault()},
		off:    checks.NoLostUpdate, on: checks.LeaseExclusion,
		wantTexts: []string{"assumption: lock memory", "redis-3: {persistence: none}", "redis-3 forgot client-1's key", "is back after 100ms without client-1's key"},
	},
	{
		name: "three faults", base: workload("redlock"), seed: 1,
		change: scenarios.Change{Nodes: 3, Persistence: map[string]sim.Persistence{"redis-2": sim.NoPersistence}},
		faults: []runs.Fault{
			item{Kind: "partition", Target: "client-1", Others: []string{"redis-3"}, For: 11 * second}.fault(),
			item{Kind: "crash", Target: "redis-2", How: "power-loss", When: "client-1 read", For: second / 10}.fault(),
			item{Kind: "pause", Target: "redis-1", When: "redis-2 restarted", For: 8 * second}.fault(),
		},
		off: checks.NoLostUpdate, on: checks.LeaseExclusion,
		wantTexts: []string{"nodes: 3", "redis-1 pauses for 8s", "redis-2 loses its power"},
	},
	{
		name: "crash-node, tokens lost as well", base: workload("single-token"), seed: 1,
		faults: []runs.Fault{item{Kind: "crash", Target: "redis-1", When: "client-1 read", For: second}.fault()},
		// The node loses its token counter with the lock, so the second grant gets the
		// token of the first.
		off: checks.NoLostUpdate, on: checks.NoLostUpdate,
		wantTexts: []string{"Fencing tokens did not help, because they did not grow from grant to grant."},
	},
	{
		name: "power loss with a disk that is a second behind", base: workload("single"), seed: 1,
		change: diskChange("redis-1", redis.Everysec),
		faults: []runs.Fault{item{Kind: "crash", Target: "redis-1", How: "power-loss", When: "client-1 acquired", For: second}.fault()},
		off:    checks.NoLostUpdate, on: checks.LeaseExclusion,
		wantTexts: []string{"redis-1: {persistence: everysec}"},
	},
	{
		name: "jump-forward-node", base: workload("single"), seed: 1,
		faults: []runs.Fault{item{Kind: "jump", Target: "redis-1", When: "client-1 read", By: 31 * second}.fault()},
		off:    checks.NoLostUpdate, on: checks.LeaseExclusion,
		wantTexts: []string{"Then redis-1's clock jumps ahead by 31s"},
	},
	{
		name: "jump-back-node", base: workload("single"), seed: 1,
		// client-1 never releases the lock, and its key lasts for 230 seconds.
		faults: []runs.Fault{
			item{Kind: "jump", Target: "redis-1", When: "client-1 read", By: -200 * second}.fault(),
			item{Kind: "crash", Target: "client-1", Before: "client-1 write"}.fault(),
		},
		off: checks.Progress, on: checks.Progress,
		wantTexts: []string{"jumps back by 3m20s", "client-2 asks for the lock 30 times, always in vain"},
	},
	{
		name: "crash-client between two commands", base: workload("setnx-then-expire"), seed: 1,
		faults: []runs.Fault{item{Kind: "crash", Target: "client-1", When: "client-1 holds redis-1"}.fault()},
		off:    checks.Progress, on: checks.Progress,
		wantTexts: []string{"the key of client-1 has no expiry and blocks every client", "As its key is set on redis-1, it crashes."},
	},
	{
		name: "pause before the release", base: workload("single-plain-del"), seed: 1,
		faults: []runs.Fault{item{Kind: "pause", Target: "client-1", Before: "client-1 release", For: 195 * second / 10}.fault()},
		off:    checks.ReleaseOwnership, on: checks.ReleaseOwnership,
		wantTexts: []string{"client-1 wakes up, and its release removes client-2's key.", "a release has to compare the value and remove the key in one step"},
	},
	{
		name: "hold-release-request", base: workload("single-plain-del"), seed: 1,
		faults: []runs.Fault{item{Kind: "hold", Target: "client-1's release request to redis-1", For: 195 * second / 10}.fault()},
		off:    checks.ReleaseOwnership, on: checks.ReleaseOwnership,
		wantTexts: []string{"client-1's release removes client-2's key"},
	},
	{
		name: "stall-write", base: workload("single"), seed: 1,
		faults: []runs.Fault{item{Kind: "stall", Target: "client-1", For: 31 * second}.fault()},
		off:    checks.NoLostUpdate, on: checks.SectionExclusion,
		wantTexts: []string{"client-1's request is held up in the storage until after its lease has ended"},
	},
	{
		name: "partition-storage", base: workload("redlock"), seed: 1,
		faults: []runs.Fault{item{Kind: "partition", Target: "client-1", Others: []string{"storage"}, When: "client-1 read", For: 45 * second}.fault()},
		off:    checks.NoLostUpdate, on: checks.SectionExclusion,
		wantTexts: []string{"Then it cannot reach the storage for 45s."},
	},
	{
		name: "delay-client-storage", base: workload("single-token"), seed: 1,
		faults: []runs.Fault{item{Kind: "delay", Target: "client-1", Others: []string{"storage"}, Before: "client-1 write", By: 31 * second, For: 31 * second}.fault()},
		off:    checks.NoLostUpdate, on: checks.SectionExclusion,
		wantTexts: []string{"takes 31s longer"},
	},
	{
		name: "pause-storage", base: workload("redlock"), seed: 1,
		faults: []runs.Fault{item{Kind: "pause", Target: "storage", Before: "client-1 write", For: 31 * second}.fault()},
		off:    checks.GrantOrder, on: checks.GrantOrder,
		wantTexts: []string{"client-1's write lands although client-2 already holds the lock"},
	},
	{
		name: "reset-client-node", base: workload("single-no-ttl"), seed: 1,
		faults: []runs.Fault{item{Kind: "reset", Target: "client-1", Others: []string{"redis-1"}, When: "client-1's release request to redis-1 is in flight"}.fault()},
		// The release never arrives, and the key has no TTL.
		off: checks.Progress, on: checks.Progress,
		wantTexts: []string{"the connection between client-1 and redis-1 is cut", "A key without an expiry outlives the client that set it."},
	},
	{
		name: "extensions that do not arrive", base: extending("redlock"), seed: 1,
		faults: []runs.Fault{item{Kind: "pause", Target: "client-1", Before: "client-1 extend, 2nd time", For: 31 * second}.fault()},
		off:    checks.SectionExclusion, on: checks.SectionExclusion,
		wantTexts: []string{"just before it extends its lease for the second time"},
	},
}

// variant parses the case's base and applies its change, as a search does.
func (d fileCase) variant(t *testing.T) *scenarios.Variant {
	t.Helper()
	v, err := runs.Base{Name: d.name, Text: []byte(d.base)}.Variant()
	if err != nil {
		t.Fatal(err)
	}
	if v, err = v.WithChange(d.change); err != nil {
		t.Fatal(err)
	}
	return v
}

// files caches the files of the cases, by name, so each is written only once.
var files = map[string][]byte{}

// file returns the case's file.
func (d fileCase) file(t *testing.T) []byte {
	t.Helper()
	if files[d.name] == nil {
		files[d.name] = d.write(t)
	}
	return files[d.name]
}

// writeFile writes a world of the case's base as a file. It fails the test if the returned
// title or story differs from that in the file.
func (d fileCase) writeFile(t *testing.T, w runs.WorldSpec, kind locks.Kind, patience time.Duration) (worldFile, error) {
	t.Helper()
	b := Base{Base: runs.Base{Name: d.name, Text: []byte(d.base), Kind: kind, Seed: d.seed}}
	return scenarioFile(t.Context(), NewLocal([]Base{b}, patience), b, w)
}

func (d fileCase) write(t *testing.T) []byte {
	t.Helper()
	written, err := d.writeFile(t, runs.WorldSpec{Change: d.change, Faults: d.faults}, locks.Kind{}, 10*second)
	if err != nil {
		t.Fatal(err)
	}
	// The title and the story that are returned beside the file are those in the file.
	var file struct{ Title, Story string }
	if err := yaml.Unmarshal(written.text, &file); err != nil {
		t.Fatal(err)
	}
	if _, title, _ := strings.Cut(file.Title, ": "); title != written.title || strings.TrimSpace(file.Story) != written.story {
		t.Errorf("the file has the title %q and the story %q, but %q and %q are returned", file.Title, file.Story, written.title, written.story)
	}
	return written.text
}

// hashes returns the hashes of the world's two runs, which it makes without a file.
func (d fileCase) hashes(t *testing.T) []string {
	t.Helper()
	v := d.variant(t)
	var hashes []string
	for _, fencing := range []string{runs.FencingOff, runs.FencingOn} {
		cfg, err := v.Config(scenarios.Options{Seed: d.seed, Fencing: fencing})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range d.faults {
			cfg.Faults = append(cfg.Faults, f.SimFault())
		}
		tr, err := sim.Run(cfg)
		if err != nil {
			t.Fatal(err)
		}
		hashes = append(hashes, tr.Hash())
	}
	return hashes
}

// runFile returns the result of running the text of a file.
func runFile(t *testing.T, text []byte, seed uint64) *scenarios.Result {
	t.Helper()
	s, err := scenarios.Parse("way.yaml", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	r, err := scenarios.Run(s, scenarios.RunOptions{Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestFileReproducesItsWorld(t *testing.T) {
	for _, d := range fileCases {
		t.Run(d.name, func(t *testing.T) {
			text := d.file(t)
			r := runFile(t, text, d.seed)
			if r.AsExpected == nil || !*r.AsExpected {
				t.Errorf("running the file does not give the verdicts that it expects\n%s", text)
			}
			for i, want := range d.hashes(t) {
				if got := r.Runs[i].History.Trace.Hash(); got != want {
					t.Errorf("with fencing %s, the run of the file differs from the run of the world", r.Runs[i].Fencing)
				}
			}
			for i, worst := range []checks.Property{d.off, d.on} {
				if got := r.Runs[i].Verdict.Gravest(); got != worst {
					t.Errorf("with fencing %s the gravest violated property is %q, want %q", r.Runs[i].Fencing, got, worst)
				}
			}
			if again := d.write(t); !bytes.Equal(again, text) {
				t.Error("the same world is written as two different files")
			}
		})
	}
}

func TestFileDescribesItsWorld(t *testing.T) {
	words := map[string][]string{}
	for _, d := range fileCases {
		t.Run(d.name, func(t *testing.T) {
			text := string(d.file(t))
			s, err := scenarios.Parse("way.yaml", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			itsStory := strings.Join(strings.Fields(s.Story), " ")
			for _, f := range d.faults {
				subject, does := story.FaultClause(f.Info())
				if !strings.Contains(itsStory, does) {
					t.Errorf("the story does not say that %s %s:\n%s", subject, does, itsStory)
				}
				if name := f.Targets()[0][0]; !strings.Contains(itsStory, name) {
					t.Errorf("the story does not name %s:\n%s", name, itsStory)
				}
			}
			if n := len(regexp.MustCompile(`\.( |$)`).FindAllString(itsStory, -1)); n < 2 || n > 5 {
				t.Errorf("the story has %d sentences, want 2 to 5:\n%s", n, itsStory)
			}
			flat := strings.Join(strings.Fields(strings.ReplaceAll(text, "\n  ", " ")), " ")
			for _, want := range d.wantTexts {
				if !strings.Contains(text, want) && !strings.Contains(flat, want) {
					t.Errorf("the file does not contain %q:\n%s", want, text)
				}
			}
			if n := len(s.Variants[0].Witnesses); n < minWitnesses || n > maxWitnesses {
				t.Errorf("the file has %d witnesses, want %d to %d", n, minWitnesses, maxWitnesses)
			}
			if s.Title == "" || s.Why == "" || strings.Contains(s.Title+s.Why, "\n") {
				t.Errorf("the title is %q and why is %q; want two texts of one line", s.Title, s.Why)
			}
			for line := range strings.Lines(text) {
				line = strings.TrimSuffix(line, "\n")
				prose := !strings.Contains(line, ": ") && !strings.HasPrefix(line, "  - ")
				if line != strings.TrimRight(line, " ") || prose && utf8.RuneCountInString(line) > width {
					t.Errorf("a line ends with spaces, or is prose and too long: %q", line)
				}
			}
			words[s.Title+s.Story] = append(words[s.Title+s.Story], d.name)
		})
	}
	for told, names := range words {
		if len(names) > 1 {
			t.Errorf("the files of %v have the same title and story: %s", names, told)
		}
	}
}

// If one of the faults is deleted from a file, some witness of the file is no longer seen.
// The only exception are faults for which the file itself says that no witness needs them.
func TestWitnessesNeedEachFault(t *testing.T) {
	for _, d := range fileCases {
		t.Run(d.name, func(t *testing.T) {
			text := d.file(t)
			s, err := scenarios.Parse("way.yaml", text)
			if err != nil {
				t.Fatal(err)
			}
			for i := range d.faults {
				doc := s.Variants[0].Document()
				var rest []scenarios.Fields
				for _, f := range slices.Delete(slices.Clone(d.faults), i, i+1) {
					rest = append(rest, scenarios.FaultFields(f.Fault))
				}
				if doc.Delete("faults"); len(rest) > 0 {
					doc.Set("faults", rest)
				}
				unseen := 0
				for _, run := range runFile(t, doc.Bytes(), d.seed).Runs {
					for _, w := range run.Verdict.Witnesses {
						if !w.Seen {
							unseen++
						}
					}
				}
				if noted := strings.Contains(string(text), fmt.Sprintf("# Without fault %d every witness", i+1)); (unseen == 0) != noted {
					t.Errorf("without fault %d (%v) %d witnesses are not seen, but that the file says that all are seen is %v\n%s", i+1, d.faults[i], unseen, noted, text)
				}
			}
		})
	}
}

func TestGoldenFiles(t *testing.T) {
	for _, name := range []string{"pause-client", "crash-node+partition-minority", "hold-release-request"} {
		t.Run(name, func(t *testing.T) {
			d := fileCases[slices.IndexFunc(fileCases, func(d fileCase) bool { return d.name == name })]
			got := d.file(t)
			file := filepath.Join("testdata", "files", name+".yaml")
			if *update {
				if err := os.WriteFile(file, got, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatalf("%v (go test ./internal/explore -run TestGoldenFiles -update writes it)", err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("the file differs from %s; if that is meant, write it with -update, and read the difference\n%s", file, got)
			}
		})
	}
}

// A base can come from a user's file. Its names may look like other types to YAML. It may
// have a story, which is not copied into the file of a way.
func TestNamesThatLookLikeOtherYAMLTypes(t *testing.T) {
	d := fileCase{name: "odd names", seed: 1, base: `title: "a title: with a colon"
group: examples
source: 'somewhere: "here"'
story: an old story
question: an old question
lesson: an old lesson
lock: {kind: redlock, ttl: 30s, nodes: 3, key: "a, b: {c} # 'd' \"e\" - [f]"}
nodes:
  null: {replica-of: redis-1, lag: 5ms}
clients:
  yes: {works: 12s, does: [read on, work, write on]}
  no: {starts: 1s after the start, retry-every: 3s, does: [read on, write on]}
  y: {starts: "no failed to acquire, 2nd time or no acquired", attempts: 1}
services:
  true: {}
network: {latency: 600us-1ms, paths: [{from: yes, to: [redis-2, storage], latency: 1ms-2ms}]}
measures: [attempts]
witnesses: [yes acquired]
horizon: 5m
`, faults: []runs.Fault{
		item{Kind: "pause", Target: "yes", Before: "yes write", For: 31 * second}.fault(),
		item{Kind: "partition", Target: "y", Others: []string{"redis-2", "storage"}, For: second}.fault(),
	}}
	text := d.file(t)
	r := runFile(t, text, 1)
	if r.AsExpected == nil || !*r.AsExpected {
		t.Errorf("running the file does not give the verdicts that it expects\n%s", text)
	}
	for i, want := range d.hashes(t) {
		if r.Runs[i].History.Trace.Hash() != want {
			t.Errorf("with fencing %s, the run of the file differs from the run of the world\n%s", r.Runs[i].Fencing, text)
		}
	}
	for _, old := range []string{"old story", "old question", "old lesson", "somewhere", "a colon", "examples", "measures"} {
		if bytes.Contains(text, []byte(old)) {
			t.Errorf("the file still has the base's %q\n%s", old, text)
		}
	}
	if !slices.Contains(r.Scenario.Variants[0].Clients(), "yes") {
		t.Errorf("the file has no client that is called yes\n%s", text)
	}
}

// The file expects nothing of an inconclusive run, and says why.
func TestNoVerdictIsExpectedOfInconclusiveRun(t *testing.T) {
	d := fileCase{name: "a fault that never strikes", base: workload("redlock"), seed: 1, faults: []runs.Fault{
		pauseBeforeWrite, item{Kind: "crash", Target: "redis-1", When: "client-1 acquired, 9th time"}.fault(),
	}}
	text := string(d.file(t))
	for _, want := range []string{
		"# Without fault 2 every witness is still seen",
		"# No verdict is expected for the run with fencing off: fault 2 (crash redis-1)",
		"# No verdict is expected for the run with fencing on: fault 2 (crash redis-1)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the file does not contain %q:\n%s", want, text)
		}
	}
	if r := runFile(t, []byte(text), 1); r.AsExpected != nil || strings.Contains(text, "\nexpect:") {
		t.Errorf("the file expects a verdict:\n%s", text)
	}
}

// A misbehavingLock misbehaves when it is acquired.
type misbehavingLock struct{ acquire func() }

func (r misbehavingLock) Acquire(context.Context) (locks.Lease, error) {
	r.acquire()
	return nil, errors.New("no lock")
}

func misbehavingKind(name string, acquire func()) locks.Kind {
	return locks.Kind{
		Name:  name,
		Title: "a lock that misbehaves",
		Slots: func(key string, nodes int) ([]locks.Slot, int) { return []locks.Slot{{Node: 0, Key: key}}, 1 },
		New:   func(*locks.Env) (locks.Lock, error) { return misbehavingLock{acquire}, nil },
	}
}

func TestFileOfLockThatIsNotRegistered(t *testing.T) {
	d := fileCase{name: "rude", base: workload("single"), seed: 4}
	fault := item{Kind: "pause", Target: "client-2", Before: "client-2 acquire", For: second}.fault()
	for _, test := range []struct {
		kind      locks.Kind
		wantTexts []string
	}{
		{misbehavingKind("panicky", func() { panic("no") }), []string{
			"# Found by locksim explore --lock panicky.",
			"# The lock panicky is not registered: run it from Go, with",
			"the lock panics",
			"# No verdict is expected for the run with fencing off:",
		}},
		{misbehavingKind("stubborn", func() {}), []string{
			"# Found by locksim explore --lock stubborn.",
			"no client gets its work done",
			"violated: [progress]",
		}},
	} {
		t.Run(test.kind.Name, func(t *testing.T) {
			written, err := d.writeFile(t, runs.WorldSpec{Faults: []runs.Fault{fault}}, test.kind, 10*second)
			if err != nil {
				t.Fatal(err)
			}
			text := written.text
			for _, want := range test.wantTexts {
				if !strings.Contains(string(text), want) {
					t.Errorf("the file does not contain %q:\n%s", want, text)
				}
			}
			if _, err := scenarios.Parse("way.yaml", text); err != nil {
				t.Errorf("%v\n%s", err, text)
			}
		})
	}
}

// A lock that hangs leaves no trace. Its file describes only the fault, with which it can
// be run again.
func TestFileOfLockThatHangs(t *testing.T) {
	d := fileCase{name: "hangs", base: workload("single"), seed: 1}
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	spinning := misbehavingKind("spinning", func() {
		for { // code that waits in a loop and never blocks
			select {
			case <-over:
				return
			default:
				runtime.Gosched()
			}
		}
	})
	pause := item{Kind: "pause", Target: "client-2", Before: "client-2 acquire", For: second}.fault()
	written, err := d.writeFile(t, runs.WorldSpec{Faults: []runs.Fault{pause}}, spinning, second)
	if err != nil {
		t.Fatal(err)
	}
	text := written.text
	for _, want := range []string{
		"# The run does not finish: hang.", "title: 'spinning: client-2 pauses just before it asks for the lock, and the lock hangs'",
		"  Just before it asks for the lock, client-2 pauses for 1s.\n",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the file does not contain %q:\n%s", want, text)
		}
	}
	if _, err := scenarios.Parse("way.yaml", text); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestFileOfWorldThatCannotBeRun(t *testing.T) {
	d := fileCase{name: "nobody", base: workload("single"), seed: 1}
	_, err := d.writeFile(t, runs.WorldSpec{Faults: []runs.Fault{item{Kind: "pause", Target: "client-9", For: second}.fault()}}, locks.Kind{}, 10*second)
	if err == nil || !strings.Contains(err.Error(), "client-9") {
		t.Errorf("the error is %v, want one that names client-9", err)
	}
}
