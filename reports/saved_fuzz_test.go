package reports_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// readAndWrite reads a document. If that succeeds, it writes the result in every format, as
// one document and as a folder. It must end for any document.
func readAndWrite(t testing.TB, doc []byte) {
	saved, err := reports.ReadTraces(doc, "trace.json")
	if err != nil {
		return
	}
	o := reports.Options{Messages: true, Arguments: saved.Arguments, Traces: saved.Traces}
	for _, f := range reports.Runs.Formats() {
		results := saved.Results
		if f.Most > 0 && len(results) > f.Most {
			results = results[:f.Most]
		}
		if err := f.Write(io.Discard, results, o); err != nil {
			t.Errorf("the format %s cannot be written: %v", f.Name, err)
		}
		if f.Pages != nil {
			f.Pages(saved.Results, o)
		}
	}
}

// savedDocuments returns saved traces of some variants with pauses, crashes, jumping clocks,
// tokens, lost keys and refused writes. Each document has as few bytes as possible.
var savedDocuments = sync.OnceValue(func() [][]byte {
	var docs [][]byte
	for scenario, variant := range map[string]string{
		"circuit-breaker": "go-ahead", "fencing-late-mint": "incr-afterwards", "single-crash": "forgets",
		"watchdog-partitioned": "heeds-the-loss", "failover": "lost", "release-without-check": "delayed",
		"fencing-without-lock": "writes", "clock-jump": "", "gc-pause": "",
	} {
		s, err := scenarios.Open(scenario)
		if err != nil {
			panic(err)
		}
		r, err := scenarios.Run(s, scenarios.RunOptions{Seed: 1})
		if err == nil {
			r, err = r.SelectRuns(variant, "")
		}
		if err != nil {
			panic(err)
		}
		var doc, small bytes.Buffer
		f, _ := reports.Runs.Lookup("trace")
		if err := f.Write(&doc, []*scenarios.Result{r}, reports.Options{}); err != nil {
			panic(err)
		}
		if err := json.Compact(&small, doc.Bytes()); err != nil {
			panic(err)
		}
		docs = append(docs, small.Bytes())
	}
	slices.SortFunc(docs, func(a, b []byte) int { return strings.Compare(string(a), string(b)) })
	return docs
})

// FuzzReadTraces reads arbitrary documents.
func FuzzReadTraces(f *testing.F) {
	for _, doc := range []string{
		``, `{}`, `[]`, `null`, `{"schema":"locksim/trace/v1","results":[{"runs":[{"fencing":"off","trace":{}}]}]}`,
		`{"events":[{"seq":1,"kind":"clock","process":"c","clocks":{"wall":1}},{"seq":2,"kind":"begin","process":"c","section":1,"step":"acquire"},
		{"seq":3,"kind":"end","process":"c","section":1,"step":"acquire","ok":true,"rank":1,"ends":{"clock":"wall","nanos":5}}],
		"processes":[{"name":"c","role":"client"}],"locks":[{"name":"","kind":"x","ttl":5,"slots":null,"quorum":0}]}`,
	} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) { readAndWrite(t, doc) })
}

// FuzzChangedTraces changes saved traces. Each edit removes or replaces one value of a
// document.
func FuzzChangedTraces(f *testing.F) {
	for i := range savedDocuments() {
		f.Add(uint8(i), []byte{})
		f.Add(uint8(i), []byte("some edits to begin with"))
	}
	f.Fuzz(func(t *testing.T, which uint8, edits []byte) {
		docs := savedDocuments()
		readAndWrite(t, applyEdits(docs[int(which)%len(docs)], edits))
	})
}

// applyEdits returns a document after some edits. An edit consists of four bytes: two for
// the place, one for the operation, and one for the new value.
func applyEdits(doc, edits []byte) []byte {
	var root any
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	if err := d.Decode(&root); err != nil {
		panic(err) // the test has just written it
	}
	const most = 6 // after more edits a document is nearly always refused at its beginning
	for n := 0; len(edits) >= 4 && n < most; n, edits = n+1, edits[4:] {
		var all []spot
		visit(root, &all)
		if len(all) == 0 { // the last edit removed everything
			break
		}
		at := all[(int(edits[0])<<8|int(edits[1]))*len(all)>>16]
		at.edit(edits[2], int(edits[3]), all)
	}
	out, err := json.Marshal(root)
	if err != nil {
		panic(err) // it was decoded from JSON
	}
	return out
}

// After the last value has been removed, further edits do nothing.
func TestEditedDocuments(t *testing.T) {
	for doc, want := range map[string]string{
		`{"a":{"b":1}}`: `{}`,
		`{}`:            `{}`,
		`[1]`:           `[null]`,
	} {
		if got := string(applyEdits([]byte(doc), make([]byte, 12))); got != want {
			t.Errorf("%s is edited to %s, want %s", doc, got, want)
		}
	}
}

// A spot is a place in a document: a member of an object, or an element of a list.
type spot struct {
	object map[string]any
	name   string
	list   []any
	item   int
}

// visit appends every spot of a document to all, in a fixed order.
func visit(value any, all *[]spot) {
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			*all = append(*all, spot{object: value, name: name})
			visit(value[name], all)
		}
	case []any:
		for i := range value {
			*all = append(*all, spot{list: value, item: i})
			visit(value[i], all)
		}
	}
}

func (s spot) get() any {
	if s.object != nil {
		return s.object[s.name]
	}
	return s.list[s.item]
}

func (s spot) set(value any) {
	if s.object != nil {
		s.object[s.name] = value
	} else {
		s.list[s.item] = value
	}
}

// edit changes the value at the spot. how is the operation: to remove the value, or to replace it
// by a number, a constant or the value of another spot. with chooses the new value. The other
// spot has the same name, so that some documents stay valid.
func (s spot) edit(how byte, with int, all []spot) {
	numbers := []any{0, 1, -1, 2, 3, 17, 100, 1_000_000_000, 30_000_000_000, int64(1) << 40, int64(1) << 62, -int64(1) << 63, 1<<63 - 1, 0.5}
	switch how % 6 {
	case 0:
		if s.object != nil {
			delete(s.object, s.name)
			return
		}
		s.set(nil)
	case 1:
		s.set(numbers[with%len(numbers)])
	case 2:
		s.set([]any{"", "x", true, nil, "client-1", "client-2", "redis-1", "storage", []any{}, map[string]any{}}[with%10])
	default:
		alike := slices.DeleteFunc(slices.Clone(all), func(o spot) bool { return (o.object == nil) != (s.object == nil) || o.name != s.name })
		s.set(deepCopy(alike[(with*7)%len(alike)].get()))
	}
}

// deepCopy returns a deep copy of a value.
func deepCopy(value any) any {
	switch value := value.(type) {
	case map[string]any:
		c := map[string]any{}
		for name, member := range value {
			c[name] = deepCopy(member)
		}
		return c
	case []any:
		c := make([]any, len(value))
		for i, item := range value {
			c[i] = deepCopy(item)
		}
		return c
	}
	return value
}
