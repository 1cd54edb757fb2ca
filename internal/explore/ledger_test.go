package explore

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/runs"
)

// writePlanned writes the result of world i of a unit.
func writePlanned(l *Ledger, unit string, i int, o runs.WorldResult) error {
	return l.writeEntry(entry{Unit: unit, Index: i, Outcome: &o})
}

// writeOther writes the result of a world outside the plan of the search.
func writeOther(l *Ledger, world string, o runs.WorldResult) error {
	return l.writeEntry(entry{World: world, Outcome: &o})
}

// testSearch is the search to which the ledgers of these tests belong.
var testSearch = &Search{Bases: []Base{{Base: runs.Base{Name: "contend", Text: []byte("title: x\n"), Seed: 7}}}, MaxFaults: 2, Worlds: 64}

// newBrokenResult returns the result of a world in which the property what is violated.
func newBrokenResult(what string) runs.WorldResult {
	return runs.WorldResult{Off: runs.RunResult{Breaks: []runs.Break{{What: what, Blame: checks.BlameLock}}, Behaviour: 1 << 63}}
}

// ledgerText returns the text of a ledger with three worlds.
func ledgerText(t testing.TB) string {
	t.Helper()
	var text bytes.Buffer
	l := NewLedger()
	heading := testSearch.Heading("v1", "single")
	if err := errors.Join(
		l.WriteTo(&text, &heading),
		writePlanned(l, singlesUnit, 0, newBrokenResult("a")),
		writePlanned(l, laneUnit(2, 63), 5, newBrokenResult("b")),
		writeOther(l, `{"Base":0}`, newBrokenResult("c")),
	); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// resealed returns a ledger with a correct seal, which is a checksum, on every line. So a
// test can check mistakes that the seal would reveal first.
func resealed(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		object, is := strings.CutSuffix(line, "}\n")
		if i := strings.LastIndex(object, sealBefore); i >= 0 {
			object = object[:i]
		}
		if is {
			line = object + sealBefore + hashOf([]byte(object)) + sealAfter + "\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

func readLedger(text string) (*Ledger, int64, error) {
	l := NewLedger()
	whole, err := l.Read(strings.NewReader(text), testSearch.Heading("v1", "single").CheckContinues)
	return l, whole, err
}

// A ledger does not record the result of a world that was cut off because this machine was
// too slow. Another machine may be faster.
func TestLedgerLeavesOutLateWorlds(t *testing.T) {
	var text bytes.Buffer
	l := NewLedger()
	l.w = &text
	late := runs.WorldResult{On: runs.RunResult{Doubt: "it took too long", Late: true}}
	if err := errors.Join(writePlanned(l, singlesUnit, 0, late), writeOther(l, `{"Base":0}`, late)); err != nil || text.Len() > 0 {
		t.Errorf("after two results that were late, %v, the ledger has %q, want nothing", err, text.String())
	}
	if err := writePlanned(l, singlesUnit, 1, newBrokenResult("a")); err != nil || text.Len() == 0 {
		t.Errorf("after a result that was not late, %v, the ledger is empty", err)
	}
}

func TestLedgerReadsWhatItWrote(t *testing.T) {
	text := ledgerText(t)
	l, whole, err := readLedger(text)
	if err != nil || whole != int64(len(text)) {
		t.Fatalf("%d of %d bytes are complete lines, %v; want all", whole, len(text), err)
	}
	for _, c := range []struct {
		unit string
		i    int
		want string // "" means that the ledger does not have the world
	}{
		{singlesUnit, 0, "a"}, {laneUnit(2, 63), 5, "b"},
		{singlesUnit, 1, ""}, {singlesUnit, 5, ""}, {laneUnit(2, 63), 0, ""}, {laneUnit(2, 62), 5, ""}, {laneUnit(3, 63), 5, ""},
	} {
		o, ok := l.plannedResult(c.unit, c.i)
		if ok != (c.want != "") || ok && !reflect.DeepEqual(o, newBrokenResult(c.want)) {
			t.Errorf("world %d of %s: %v %v, want %q", c.i, c.unit, ok, o, c.want)
		}
	}
	if o, ok := l.otherResult(`{"Base":0}`); !ok || !reflect.DeepEqual(o, newBrokenResult("c")) {
		t.Errorf("the world outside the plan: %v %v", ok, o)
	}
	if _, ok := l.otherResult(`{"Base":1}`); ok {
		t.Error("the ledger has a world that was not written")
	}
}

// A search that is killed may leave an incomplete last line. Wherever the ledger is cut
// off, Read returns the lines before as complete.
func TestLedgerCutOff(t *testing.T) {
	text := ledgerText(t)
	for n := range len(text) {
		_, whole, err := readLedger(text[:n])
		want := int64(strings.LastIndex(text[:n], "\n") + 1)
		if want == 0 {
			if !errors.Is(err, ErrLedger) {
				t.Errorf("cut off in its heading, after %d bytes: %v", n, err)
			}
			continue
		}
		if err != nil || whole != want {
			t.Errorf("cut off after %d bytes: %d are complete lines (%v), want %d", n, whole, err, want)
		}
	}
}

// A ledger in which any bit was changed is refused, with the number of the line. The only
// exception is a change that makes the last line incomplete: that line is left out.
func TestLedgerDamaged(t *testing.T) {
	text := ledgerText(t)
	original, _, err := readLedger(text)
	if err != nil {
		t.Fatal(err)
	}
	for i := range text {
		for bit := range 8 {
			damaged := []byte(text)
			damaged[i] ^= 1 << bit
			l, _, err := readLedger(string(damaged))
			line := 1 + strings.Count(text[:i], "\n")
			switch {
			case i == len(text)-1:
				if err != nil || len(l.others) != 0 || asJSON(l.planned) != asJSON(original.planned) {
					t.Errorf("the newline of the last line, bit %d: %v; want the ledger without this line", bit, err)
				}
			case !errors.Is(err, ErrLedger) || line > 1 && !strings.Contains(err.Error(), fmt.Sprintf("line %d: it was damaged or edited", line)):
				t.Fatalf("bit %d of byte %d, in line %d, is changed: the error is %v, want that this line was damaged", bit, i, line, err)
			}
		}
	}
}

func TestLedgerRefuses(t *testing.T) {
	text := ledgerText(t)
	heading, rest, _ := strings.Cut(text, "\n")
	heading, rest = heading+"\n", "\n"+rest
	const known = `{"u":"singles","i":0,"o":` // a world that the ledger has
	for _, c := range []struct{ name, text, want string }{
		{"an empty file", "", "it is empty"},
		{"no heading", rest[1:], "its first line is not the heading"},
		{"text that is not JSON", "hello\n", "its first line is not the heading"},
		{"two headings on a line", strings.Replace(text, "\n", heading, 1), "line 1, the heading, was damaged or edited"},
		{"a heading that was edited", strings.Replace(text, `"seed":7`, `"seed":8`, 1), "line 1, the heading, was damaged or edited: its checksum is wrong; start again"},
		{"a line that was edited", strings.Replace(text, `"i":5`, `"i":6`, 1), "line 3: it was damaged or edited: its checksum is wrong; delete the line, and --resume runs its world again"},
		{"a line without a seal", text + `{"u":"singles","i":3,"o":{}}` + "\n", "line 5: it was damaged or edited"},
		{"an empty line", text + "\n", "line 5"},
		{"the format without seals", `{"schema":"locksim/explore-ledger/v1","version":"v1"}` + "\n",
			`its schema is "locksim/explore-ledger/v1", and this version of locksim reads "locksim/explore-ledger/v4"; continue with the version that has written it`},
		{"another schema", resealed(strings.Replace(text, "ledger/v4", "ledger/v9", 1)), `its schema is "locksim/explore-ledger/v9"`},
		{"no bases", resealed(strings.Replace(text, `"bases":[`, `"bases":[],"lock":"single","x":[`, 1)), "its heading: json: unknown field"},
		{"another version", resealed(strings.Replace(text, `"v1"`, `"v2"`, 1)), "version v2 has written it, and this is version v1"},
		{"another lock", resealed(strings.Replace(text, `"single"`, `"redlock"`, 1)), "about the lock redlock, not single"},
		{"another seed", resealed(strings.Replace(text, `"seed":7`, `"seed":8`, 1)), "its workload, TTL, number of nodes or seed differs"},
		{"another text of a base", resealed(strings.Replace(text, "title: x", "title: y", 1)), "was changed: its hash is wrong"},
		{"another part", resealed(strings.Replace(text, `"worlds":64`, `"worlds":64,"shard":1,"shards":2`, 1)), "it belongs to part 1 of 2, and this search is a whole search"},
		{"an impossible part", resealed(strings.Replace(text, `"worlds":64`, `"worlds":64,"shard":3,"shards":2`, 1)), "it is part 3 of 2"},
		{"too many faults", resealed(strings.Replace(text, `"max_faults":2`, `"max_faults":9`, 1)), "max_faults is 9"},
		{"no result", resealed(text + `{"u":"singles","i":3}` + "\n"), "line 5: it is not the result of a world"},
		{"a result without a world", resealed(text + `{"i":3,"o":{}}` + "\n"), "line 5: it is not the result of a world"},
		{"a result of two worlds", resealed(text + `{"u":"singles","w":"x","o":{}}` + "\n"), "line 5: it is not the result of a world"},
		{"a negative index of a world", resealed(text + `{"u":"singles","i":-1,"o":{}}` + "\n"), "line 5: it is not the result of a world"},
		{"a lane that does not exist", resealed(text + `{"u":"2 faults, lane 64","i":1,"o":{}}` + "\n"), "line 5: it is not the result of a world"},
		{"an unknown field", resealed(text + `{"u":"singles","i":3,"o":{},"x":1}` + "\n"), `line 5: json: unknown field "x"`},
		{"two worlds on a line", resealed(text + `{"u":"singles","i":3,"o":{}}{}` + "\n"), "line 5: the line has more text after the JSON value"},
		{"another result of a planned world", resealed(text + known + "{}}\n"), "line 5: world 0 of singles has another result on an earlier line"},
		{"another result of a world outside the plan", resealed(text + `{"w":"{\"Base\":0}","o":{}}` + "\n"), "line 5: the world has another result on an earlier line"},
		{"a line that never ends", strings.Repeat("x", longestLine+1), "line 1 is longer than 8388608 bytes, so the file is not a ledger; name a file"},
	} {
		_, _, err := readLedger(c.text)
		if !errors.Is(err, ErrLedger) || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s: the error is %v, want %q", c.name, err, c.want)
		}
	}
	// Two equal lines are no contradiction: two parts of a search run the same single
	// faults.
	again := strings.SplitAfter(text, "\n")[1]
	if _, _, err := readLedger(text + again); err != nil {
		t.Errorf("a line that is repeated: the error is %v, want nil", err)
	}
}

// Whether a search continues with the ledger of another one, and whether their ledgers can
// be joined, is decided by their headings.
func TestHeadings(t *testing.T) {
	newHeading := func(maxFaults, worlds, shard, shards int) Heading {
		s := *testSearch
		s.MaxFaults, s.Worlds, s.Shard, s.Shards = maxFaults, worlds, shard, shards
		return s.Heading("v1", "single")
	}
	for _, c := range []struct {
		name             string
		one, other       Heading
		continues, joins bool
	}{
		{"equal searches", newHeading(2, 64, 1, 2), newHeading(2, 64, 1, 2), true, true},
		{"another part of the same search", newHeading(2, 64, 1, 2), newHeading(2, 64, 2, 2), false, true},
		{"another number of parts", newHeading(2, 64, 1, 2), newHeading(2, 64, 1, 3), false, false},
		{"more worlds", newHeading(2, 128, 0, 0), newHeading(2, 64, 0, 0), true, false},
		{"more faults", newHeading(3, 64, 0, 0), newHeading(2, 64, 0, 0), true, false},
		{"more worlds in a part", newHeading(2, 128, 1, 2), newHeading(2, 64, 1, 2), false, false},
		{"more faults in a part", newHeading(3, 64, 1, 2), newHeading(2, 64, 1, 2), false, false},
	} {
		if err := c.one.CheckContinues(c.other); (err == nil) != c.continues {
			t.Errorf("%s: continues: %v, want %v", c.name, err, c.continues)
		}
		if err := c.one.CheckJoins(c.other); (err == nil) != c.joins {
			t.Errorf("%s: joins: %v, want %v", c.name, err, c.joins)
		}
	}
}

func TestMissingPart(t *testing.T) {
	for _, c := range []struct {
		m                       Missing
		maxFaults, shards, want int
	}{
		{Missing{singlesUnit, 70, 7}, 1, 3, 2},   // place 7 belongs to part 2, because places 0, 3 and 6 belong to part 1
		{Missing{singlesUnit, 70, 7}, 2, 3, 0},   // all parts run it
		{Missing{laneUnit(2, 5), 7, 0}, 2, 3, 3}, // lane 5 belongs to part 3, as lane 2 does
		{Missing{laneUnit(2, 5), 7, 0}, 2, 0, 0}, // the search was not cut into parts
	} {
		if got := c.m.Part(c.maxFaults, c.shards); got != c.want {
			t.Errorf("%v of %d: part %d, want %d", &c.m, c.shards, got, c.want)
		}
	}
}

// No content of a file makes Read panic. If Read accepts a ledger, writing it and reading
// it again gives the same results.
func FuzzLedger(f *testing.F) {
	text := ledgerText(f)
	f.Add(text)
	f.Add(text[:len(text)-9])
	f.Add(strings.Replace(text, `"i":5`, `"i":99999999999`, 1))
	f.Add(text + text)
	f.Fuzz(func(t *testing.T, text string) {
		if _, _, err := readLedger(text); err != nil && !errors.Is(err, ErrLedger) {
			t.Errorf("the error is %v, want an ErrLedger", err)
		}
		// With correct seals, the parts of a line that come after the check of the seal are
		// tested too.
		text = resealed(text)
		l, whole, err := readLedger(text)
		if whole > int64(len(text)) {
			t.Fatalf("%d of %d bytes are complete lines", whole, len(text))
		}
		if err != nil {
			if !errors.Is(err, ErrLedger) {
				t.Errorf("the error is %v, want an ErrLedger", err)
			}
			return
		}
		if whole == 0 || text[whole-1] != '\n' || strings.Contains(text[whole:], "\n") {
			t.Errorf("%d of %d bytes are complete lines", whole, len(text))
		}
		// The ledger that was read is written, and read again.
		var out bytes.Buffer
		heading := testSearch.Heading("v1", "single")
		if err := l.WriteTo(&out, &heading); err != nil {
			t.Fatal(err)
		}
		n := 0
		for unit, worlds := range l.planned {
			for i, o := range worlds {
				if i < 0 || unit != singlesUnit && laneOf(unit) < 0 {
					t.Errorf("the ledger has world %d of %q, which does not exist", i, unit)
				}
				writePlanned(l, unit, i, *o)
				n++
			}
		}
		for world, o := range l.others {
			writeOther(l, world, *o)
			n++
		}
		if lines := strings.Count(text, "\n"); n > lines-1 {
			t.Errorf("the ledger has %d worlds, want at most one per line of %d, without the heading", n, lines)
		}
		again, _, err := readLedger(out.String())
		if err != nil || asJSON(again.planned) != asJSON(l.planned) || asJSON(again.others) != asJSON(l.others) {
			t.Errorf("written and read again, the ledger has other results (%v)", err)
		}
	})
}

// asJSON returns results as a ledger writes them: an empty list and a nil list are the
// same.
func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}
