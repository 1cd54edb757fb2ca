package checks

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/history"
)

// The scripts are traces written by hand; see [script]. "x=0>1" replaces version 0 of object x
// by version 1; "<--" marks the line with which the property breaks.
func TestSerialSections(t *testing.T) {
	judgeAll(t, SerialSections, []judgement{
		{name: "a lost update", want: Violated, reasonParts: []string{"c1 and c2 cannot have run one after the other"}, script: `
			0s  c1 acquires rank=1
			1s  c1 reads x=0
			40s c2 acquires rank=2
			41s c2 reads x=0
			42s c2 writes x=0>1
			50s c1 writes x=1>2 <--`},
		{name: "an update computed from what the other section wrote", want: Holds, script: `
			0s  c1 acquires rank=1
			40s c2 acquires rank=2
			41s c2 reads x=0
			42s c2 writes x=0>1
			49s c1 reads x=1
			50s c1 writes x=1>2`},
		{name: "write skew over two objects", want: Violated, script: `
			0s c1 acquires rank=1
			1s c1 reads x=0
			2s c2 acquires rank=2
			3s c2 reads y=0
			4s c2 writes x=0>1
			5s c1 writes y=0>1 <--`},
		{name: "write skew over two objects, with the last write refused", want: Holds, script: `
			0s c1 acquires rank=1
			1s c1 reads x=0
			2s c2 acquires rank=2
			3s c2 reads y=0
			4s c2 writes x=0>1
			5s c1 is-refused`},
		{name: "a later section reads the old version from a member that lags behind", want: Violated, script: `
			lock L ttl=30s members=ABC
			0s c1 acquires rank=1
			1s c1 writes x=0>1
			2s c1 releases
			3s c2 acquires rank=2
			4s c2 reads x=0 from=B <--`},
		{name: "a later section reads the old version from a member that lags behind, and its write is refused", want: Holds, script: `
			lock L ttl=30s members=ABC
			0s c1 acquires rank=1
			1s c1 writes x=0>1
			2s c1 releases
			3s c2 acquires rank=2
			4s c2 reads x=0 from=B
			5s c2 is-refused`},
		{name: "a later section reads the old version from a member that lags behind, and only one of its writes is refused", want: Violated, script: `
			lock L ttl=30s members=ABC
			0s c1 acquires rank=1
			1s c1 writes x=0>1
			2s c1 releases
			3s c2 acquires rank=2
			4s c2 reads x=0 from=B <--
			5s c2 is-refused
			6s c2 writes y=0>1`},
		{name: "no write skew: one section had not read what the other wrote", want: Holds, script: `
			0s c1 acquires rank=1
			1s c1 reads z=0
			2s c2 acquires rank=2
			3s c2 reads y=0
			4s c2 writes x=0>1
			5s c1 writes y=0>1`},
		{name: "no write skew: one section marks instead of reading", want: Holds, script: `
			0s c1 acquires rank=1
			1s c1 marks x=0
			2s c2 acquires rank=2
			3s c2 reads y=0
			4s c2 writes x=0>1
			5s c1 writes y=0>1`},
		{name: "write skew over two objects, through services and under two locks", want: Violated, script: `
			lock M ttl=30s
			0s c1 acquires rank=1
			1s c1 reads x=0 via=s1
			2s c2 acquires rank=1 lock=M
			3s c2 reads y=0 via=s2
			4s c2 writes x=0>1 via=s2
			5s c1 writes y=0>1 via=s1 <--`},
		{name: "the storage comes back without an acknowledged write, and another section writes the same version", want: Violated, script: `
			0s c1 acquires rank=1
			1s c1 reads x=0
			2s c2 acquires rank=2
			3s c2 reads x=0
			4s c2 writes x=0>1
			5s storage reverts x=1>0
			6s c1 writes x=0>1 <--`},
		{name: "the storage comes back without an acknowledged write that no later section touches", want: Holds, script: `
			0s c1 acquires rank=1
			1s c1 reads x=0
			2s c2 acquires rank=2
			3s c2 reads x=0
			4s c2 writes x=0>1
			5s storage reverts x=1>0
			6s c1 writes y=0>1`},
		{name: "the storage comes back without a section's acknowledged write, which the section makes again", want: Violated, script: `
			0s c1 acquires rank=1
			1s c1 writes x=0>1
			2s storage reverts x=1>0
			3s c1 writes x=0>1 <--`},
		{name: "the storage comes back without a section's unacknowledged write, which the section makes again", want: Holds, script: `
			0s c1 acquires rank=1
			1s c1 sends message=1
			1s c1 lands message=1 x=0>1
			2s storage reverts x=1>0
			3s c1 writes x=0>1`},
		{name: "the storage comes back without a section's write, which is acknowledged later and made again", want: Violated, script: `
			0s c1 acquires rank=1
			1s c1 sends message=1
			1s c1 lands message=1 x=0>1
			2s storage reverts x=1>0
			2s c1 hears x=1
			3s c1 writes x=0>1 <--`},
		{name: "the storage comes back without a section's unacknowledged write, which another client had read", want: Violated, script: `
			0s c1 acquires rank=1
			1s c1 sends message=1
			1s c1 lands message=1 x=0>1
			1s c2 reads x=1
			2s storage reverts x=1>0
			3s c1 writes x=0>1 <--`},
		{name: "the storage comes back without two unacknowledged writes, one over the other", want: Holds, script: `
			0s c1 acquires rank=1
			0s c2 acquires rank=2
			1s c1 sends message=1
			1s c2 sends message=1
			1s c1 lands message=1 x=0>1
			1s c2 lands message=1 x=1>2
			2s storage reverts x=2>0
			3s c1 writes x=0>1`},
		{name: "the storage comes back without an unacknowledged write and an acknowledged write over it", want: Violated, script: `
			0s c1 acquires rank=1
			0s c2 acquires rank=2
			1s c1 sends message=1
			1s c1 lands message=1 x=0>1
			1s c2 writes x=1>2
			2s storage reverts x=2>0
			3s c1 writes x=0>1 <--`},
		{name: "the storage comes back without the second of two unacknowledged writes only", want: Violated, script: `
			0s c1 acquires rank=1
			0s c2 acquires rank=2
			0s c3 acquires rank=3
			1s c1 reads y=0
			1s c3 reads x=0
			2s c1 sends message=1
			2s c1 lands message=1 x=0>1
			2s c2 sends message=1
			2s c2 lands message=1 x=1>2
			3s storage reverts x=2>1
			4s c3 writes y=0>1 <--`},
		{name: "an unacknowledged write lands after the storage came back without another", want: Violated, script: `
			0s c1 acquires rank=1
			0s c2 acquires rank=2
			0s c3 acquires rank=3
			1s c2 sends message=1
			1s c2 lands message=1 x=0>1
			2s storage reverts x=1>0
			3s c1 reads y=0
			3s c3 reads x=0
			4s c1 sends message=1
			4s c1 lands message=1 x=0>1
			5s c3 writes y=0>1 <--`},
		{name: "the storage comes back without a version of another object", want: Violated, script: `
			0s c1 acquires rank=1
			1s c1 sends message=1
			1s c1 lands message=1 x=0>1
			2s storage reverts y=1>0
			3s c1 writes x=0>1 <--`},
		{name: "a read that does not repeat", want: Violated, script: `
			0s c1 acquires rank=1
			1s c1 reads x=0
			2s c2 acquires rank=2
			3s c2 writes x=0>1
			4s c1 reads x=1 <--`},
		{name: "a read whose answer did not arrive does not count", want: Holds, script: `
			0s c1 acquires rank=1
			1s c1 reads x=0
			2s c2 acquires rank=2
			3s c2 writes x=0>1
			4s c1 is-shown x=1`},
		{name: "a read shows the version at the time when the storage served it", want: Holds, script: `
			0s c1 acquires rank=1
			1s c1 is-shown x=0
			2s c2 acquires rank=2
			3s c2 writes x=0>1
			4s c1 learns x=0`},
		{name: "a write lands after its section has ended and the next one has written", want: Violated, script: `
			0s  c1 acquires rank=1
			1s  c1 sends message=1
			2s  c1 releases
			40s c2 acquires rank=2
			41s c2 writes x=0>1
			42s c2 releases
			50s c1 lands message=1 x=1>2 <--`},
		{name: "a write lands after the next section has written, while its own section lasts", want: Holds, script: `
			0s  c1 acquires rank=1
			1s  c1 sends message=1
			40s c2 acquires rank=2
			41s c2 writes x=0>1
			42s c2 releases
			50s c1 lands message=1 x=1>2`},
		{name: "a section that began after the end of another reads before the other's write lands", want: Violated, script: `
			0s c1 acquires rank=1
			1s c1 sends message=1
			2s c1 releases
			3s c2 acquires rank=2
			4s c2 reads x=0
			5s c2 releases
			6s c1 lands message=1 x=0>1 <--`},
		{name: "three sections in a cycle", want: Violated, reasonParts: []string{"3 sections"}, script: `
			0s c1 acquires rank=1
			0s c2 acquires rank=2
			0s c3 acquires rank=3
			1s c1 reads x=0
			1s c2 reads y=0
			1s c3 reads z=0
			2s c2 writes x=0>1
			2s c3 writes y=0>1
			2s c1 writes z=0>1 <--`},
		{name: "two sections replaced one version", want: Violated, script: `
			0s c1 acquires rank=1
			1s c1 writes x=0>1
			2s c2 acquires rank=2
			3s c2 writes x=0>1 <--`},
		{name: "a section's own write is gone", want: Violated, reasonParts: []string{"c1 cannot have run alone"}, script: `
			0s c1 acquires rank=1
			1s c1 writes x=0>1
			2s c1 reads x=0 <--`},
		{name: "a section reads its own write", want: Holds, script: `
			0s c1 acquires rank=1
			1s c1 writes x=0>1
			2s c1 reads x=1
			3s c1 writes x=1>2`},
		{name: "each step outside a section is a section of its own", want: Holds, script: `
			0s c1 reads x=0
			2s c2 writes x=0>1
			4s c1 writes x=1>2`},
		{name: "the steps after a failed acquire belong to one section", want: Violated, script: `
			0s c1 fails
			1s c1 reads x=0
			2s c2 writes x=0>1
			4s c1 writes x=1>2 <--`},
		{name: "a section without a grant begins with its first step", want: Holds, script: `
			0s c1 is-shown x=0
			1s c2 writes x=0>1
			2s c1 learns x=0`},
		{name: "a step outside a section that begins after a write must see it", want: Violated, script: `
			0s c1 is-shown y=0
			1s c2 writes x=0>1
			2s c1 learns y=0
			3s c1 reads x=0 <--`},
		{name: "a section without a grant ends with its last answer", want: Violated, script: `
			0s c1 writes x=0>1
			1s c2 reads x=0 <--`},
		{name: "a section without a grant never ends if its answer never arrives", want: Holds, script: `
			0s c1 sends message=1
			1s c1 lands message=1 x=0>1
			2s c2 reads x=0`},
		{name: "no read or write", want: Holds, script: `
			0s c1 acquires rank=1`},
	})
}

// A violation is shown by the shortest cycle of dependencies.
func TestShortestCycle(t *testing.T) {
	for _, test := range []struct {
		story string
		want  []string
	}{
		{`
			0s  c1 acquires rank=1
			1s  c1 reads x=0
			40s c2 acquires rank=2
			42s c2 writes x=0>1
			50s c1 writes x=1>2`,
			[]string{
				"c1 read version 0 of x, and c2 replaced it",
				"c2 wrote version 1 of x, and c1 replaced it",
			}},
		{`
			0s c1 acquires rank=1
			1s c1 sends message=1
			2s c1 releases
			3s c2 acquires rank=2
			4s c2 reads x=0
			6s c1 lands message=1 x=0>1`,
			[]string{
				"c1 had ended at 2s, before c2 began at 3s",
				"c2 read version 0 of x, and c1 replaced it",
			}},
		{`
			0s c1 acquires rank=1
			1s c1 writes x=0>1
			2s c2 acquires rank=2
			3s c2 reads x=1
			3s c2 writes y=0>1
			4s c1 reads y=1`,
			[]string{
				"c1 wrote version 1 of x, and c2 read it",
				"c2 wrote version 1 of y, and c1 read it",
			}},
		{`
			0s c1 acquires rank=1
			0s c2 acquires rank=2
			1s c1 writes x=0>1
			3s c2 writes x=0>1`,
			[]string{
				"c1 replaced version 0 of x, and c2 also replaced it",
				"c2 replaced version 0 of x, and c1 also replaced it",
			}},
		{`
			0s c1 acquires rank=1
			1s c1 writes x=0>1
			2s c1 reads x=0`,
			[]string{"c1 wrote version 1 of x, and then found it gone"}},
		// A cycle of three sections is connected to a cycle of two, and the shorter one is
		// shown.
		{`
			0s c1 acquires rank=1
			0s c2 acquires rank=2
			0s c3 acquires rank=3
			1s c1 reads x=0
			1s c2 reads y=0
			1s c3 reads z=0
			2s c2 writes x=0>1
			2s c3 writes y=0>1
			2s c1 writes z=0>1
			3s c3 reads w=0
			3s c2 writes w=0>1`,
			[]string{
				"c2 read version 0 of y, and c3 replaced it",
				"c3 read version 0 of w, and c2 replaced it",
			}},
	} {
		f := Check(history.New(parseScript(t, test.story).trace), nil).Finding(SerialSections)
		var got []string
		for _, d := range f.Cycle {
			got = append(got, sentence(d))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s\ngot the cycle\n%s\nwant\n%s", test.story, strings.Join(got, "\n"), strings.Join(test.want, "\n"))
		}
	}
}

// randomScript returns a script of a few sections that read and write two objects in any
// order. Some writes arrive late, some sections do not end, and the storage sometimes loses
// its latest writes.
func randomScript(rng *rand.Rand) string {
	var b strings.Builder
	at := 0
	addLine := func(format string, args ...any) {
		at++
		fmt.Fprintf(&b, "%ds %s\n", at, fmt.Sprintf(format, args...))
	}
	clients := 1 + rng.IntN(5)
	lossy := rng.IntN(3) == 0
	const (
		waiting = iota
		inside
		released
	)
	state := make([]int, clients)
	inFlight := make([]int, clients) // writes in flight, by client
	objects := []string{"x", "y"}
	versions := map[string]int{}
	land := func(i int) {
		o := objects[rng.IntN(2)]
		inFlight[i]--
		addLine("c%d lands message=1 %s=%d>%d", i, o, versions[o], versions[o]+1)
		versions[o]++
	}
	for range 4 + rng.IntN(5*clients) {
		i := rng.IntN(clients)
		o := objects[rng.IntN(2)]
		if lossy && versions[o] > 0 && rng.IntN(8) == 0 {
			versions[o]--
			if rng.IntN(2) == 0 { // otherwise no event shows the loss
				addLine("storage reverts %s=%d>%d", o, versions[o]+1, versions[o])
			}
		}
		if inFlight[i] > 0 && rng.IntN(3) == 0 {
			land(i)
			continue
		}
		switch state[i] {
		case waiting:
			addLine("c%d acquires rank=%d", i, at+1)
			state[i] = inside
		case inside:
			switch rng.IntN(6) {
			case 0, 1:
				addLine("c%d reads %s=%d", i, o, versions[o])
			case 2, 3:
				addLine("c%d writes %s=%d>%d", i, o, versions[o], versions[o]+1)
				versions[o]++
			case 4:
				addLine("c%d sends message=1", i)
				inFlight[i]++
			case 5:
				addLine("c%d releases", i)
				state[i] = released
			}
		}
	}
	for i := range inFlight {
		if inFlight[i] > 0 {
			land(i)
		}
	}
	return b.String()
}

// hasSerialOrder reports whether the sections can be ordered one after the other. It tries
// every order.
func hasSerialOrder(sections []*history.Section) bool {
	var try func(done map[*history.Section]bool, state map[string]*history.Version) bool
	try = func(done map[*history.Section]bool, state map[string]*history.Version) bool {
		if len(done) == len(sections) {
			return true
		}
		for _, s := range sections {
			if done[s] || slices.ContainsFunc(sections, func(o *history.Section) bool { return !done[o] && o != s && o.To.Before(s.From) }) {
				continue
			}
			next := map[string]*history.Version{}
			for o, v := range state {
				next[o] = v
			}
			isPossible := true
			for _, o := range s.Operations {
				current := next[o.Sees.Object]
				isPossible = isPossible && (current == o.Sees || current == nil && o.Sees.Made == nil)
				if o.Makes != nil {
					next[o.Sees.Object] = o.Makes
				}
			}
			if isPossible {
				done[s] = true
				if try(done, next) {
					return true
				}
				delete(done, s)
			}
		}
		return false
	}
	return try(map[*history.Section]bool{}, map[string]*history.Version{})
}

// Three ways to find out whether sections can be ordered one after the other give the same
// result: by their dependencies, by porcupine, and by trying every order.
func TestThreeCheckersAgree(t *testing.T) {
	const scripts = 6000
	seen := map[porcupineResult]int{}
	for seed := range uint64(scripts) {
		text := randomScript(rand.New(rand.NewPCG(seed, 1)))
		h := &judgedRun{history.New(parseScript(t, text).trace)}
		sections := h.DataSections()
		ours := judgeSerialSections(h).Outcome == Holds
		porcupines := linearize(sections)
		bySearch := hasSerialOrder(sections)
		if ours != bySearch || (porcupines == serial) != bySearch || porcupines == notSearched {
			t.Fatalf("seed %d: by dependencies %v, by porcupine %q, by trying every order %v:\n%s", seed, ours, porcupines, bySearch, text)
		}
		seen[porcupines]++
	}
	for _, o := range []porcupineResult{serial, notSerial} {
		if seen[o] < scripts/10 {
			t.Errorf("porcupine finds only %d of %d scripts %s, want at least a tenth", seen[o], scripts, o)
		}
	}
}

// A search that porcupine did not finish disagrees with nothing.
func TestDisagreement(t *testing.T) {
	for _, test := range []struct {
		ours       Outcome
		porcupines porcupineResult
		agree      bool
	}{
		{Holds, serial, true},
		{Violated, notSerial, true},
		{Holds, notSerial, false},
		{Violated, serial, false},
		{Holds, notSearched, true},
		{Violated, notSearched, true},
		{Unknown, serial, true},
		{Unknown, notSerial, true},
	} {
		reason := disagreement(test.ours, test.porcupines)
		if reason.IsZero() != test.agree {
			t.Errorf("serial-sections is %s, porcupine finds the sections %s: got the disagreement %q", test.ours, test.porcupines, reason)
		}
	}
}

// If serial-sections holds and porcupine could not search the history, the finding says
// that it was not cross-checked.
func TestNotCrossChecked(t *testing.T) {
	for _, test := range []struct {
		ours       Outcome
		porcupines porcupineResult
		want       string
	}{
		{Holds, serial, ""},
		{Holds, notSearched, "not cross-checked by porcupine: the history is too large for it"},
		{Violated, notSearched, "as it was"},
	} {
		f := Finding{Property: SerialSections, Outcome: test.ours}
		if test.ours == Violated {
			f.Reason = InDoubt.Reason("as it was")
		}
		v := &Verdict{Findings: []Finding{{Property: WriteOrder, Outcome: Holds}, f}}
		v.crossCheck(test.porcupines)
		if got := v.Findings[1].Reason; sentence(got) != test.want || !v.Findings[0].Reason.IsZero() || len(v.Reasons) > 0 {
			t.Errorf("serial-sections is %s, porcupine finds the sections %s: got the reason %q, want %q", test.ours, test.porcupines, got, test.want)
		}
	}
}

// Porcupine finds an order for forty readers of one version that all overlap. If two
// writers contradict each other as well, there are too many orders to search.
func TestTooLargeForPorcupine(t *testing.T) {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "0s c%d acquires rank=%d\n1s c%d reads x=0\n", i, i+1, i)
	}
	h := &judgedRun{history.New(parseScript(t, b.String()).trace)}
	if got := linearize(h.DataSections()); got != serial {
		t.Errorf("porcupine finds the sections of forty readers %s, want %s", got, serial)
	}
	v := Check(history.New(h.Trace), nil)
	if f := v.Finding(SerialSections); f.Outcome != Holds || !f.Reason.IsZero() {
		t.Errorf("forty readers: serial-sections is %s (%q), want holds without a reason", f.Outcome, f.Reason)
	}
	b.WriteString("2s c90 acquires rank=90\n2s c91 acquires rank=91\n2s c90 writes y=0>1\n2s c91 writes y=0>1\n")
	h = &judgedRun{history.New(parseScript(t, b.String()).trace)}
	if got := linearize(h.DataSections()); got != notSearched {
		t.Errorf("porcupine finds the sections of forty readers and two contradicting writers %s, want %s", got, notSearched)
	}
	v = Check(history.New(h.Trace), nil)
	if f := v.Finding(SerialSections); f.Outcome != Violated || len(f.Cycle) != 2 || strings.Contains(sentence(f.Reason), "porcupine") || v.Verdict != Unsafe {
		t.Errorf("forty readers and two contradicting writers: serial-sections is %s (%q), the verdict %s; want violated with a cycle of two, and unsafe", f.Outcome, f.Reason, v.Verdict)
	}
}

// Judging thousands of sections takes a few seconds, even if all of them come before two that
// cannot be ordered.
func TestSerialSectionsOfALongRun(t *testing.T) {
	const sections = 3000
	var b strings.Builder
	for i := range sections {
		at := 10 * i
		fmt.Fprintf(&b, "%ds c1 acquires rank=%d\n%ds c1 reads x=0\n%ds c1 releases\n", at, i+1, at+1, at+2)
	}
	fmt.Fprintf(&b, `
		40000s c2 acquires rank=4000
		40001s c2 reads x=0
		40002s c3 acquires rank=4001
		40003s c3 reads x=0
		40004s c3 writes x=0>1
		40005s c2 writes x=1>2`)
	h := &judgedRun{history.New(parseScript(t, b.String()).trace)}
	began := time.Now()
	f := judgeSerialSections(h)
	if len(f.Cycle) != 2 || !strings.HasPrefix(sentence(f.Reason), "c2 and c3 ") {
		t.Errorf("serial-sections is %s (%s) with the cycle %q, want a cycle of c2 and c3", f.Outcome, f.Reason, f.Cycle)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("judging %d sections took %v, want at most 10s", sections, took)
	}
}
