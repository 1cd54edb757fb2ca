package explore

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/locks"
)

// listNode returns a list of strings.
func listNode(all []string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	for _, s := range all {
		n.Content = append(n.Content, stringNode(s))
	}
	return n
}

// A value that is written on one line and read again is the same. It is quoted only if
// necessary.
func TestValuesInOneLine(t *testing.T) {
	for _, test := range []struct {
		value         string
		alone, within string // how the value is written alone, and within a list
	}{
		{"client-1 write", "client-1 write", "client-1 write"},
		{"client-1's write request to storage", "client-1's write request to storage", "client-1's write request to storage"},
		{"client-1 acquire, 2nd time", "client-1 acquire, 2nd time", "'client-1 acquire, 2nd time'"},
		{"client-1's acquire request to redis-2, 3rd time", "client-1's acquire request to redis-2, 3rd time", `"client-1's acquire request to redis-2, 3rd time"`},
		{"redlock: a pause", "'redlock: a pause'", "'redlock: a pause'"},
		{"redlock: client-1's pause", `"redlock: client-1's pause"`, `"redlock: client-1's pause"`},
		{"yes", `"yes"`, `"yes"`},
		{"null", `"null"`, `"null"`},
		{"31s", "31s", "31s"},
		{"1e3", `"1e3"`, `"1e3"`},
		{"# no comment", "'# no comment'", "'# no comment'"},
		{`a "b" {c}`, `a "b" {c}`, `'a "b" {c}'`},
		{"", `""`, `""`},
	} {
		if got := onOneLine(stringNode(test.value)); got != test.alone {
			t.Errorf("%q alone is %s, not %s", test.value, got, test.alone)
		}
		list := onOneLine(listNode([]string{test.value, "end"}))
		if want := "[" + test.within + ", end]"; list != want {
			t.Errorf("%q in a list is %s, not %s", test.value, list, want)
		}
		for _, text := range []string{list, "[" + onOneLine(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{stringNode("k"), stringNode(test.value)}}) + "]"} {
			var back []any
			if err := yaml.Unmarshal([]byte(text), &back); err != nil {
				t.Errorf("%s: %v", text, err)
				continue
			}
			read := back[0]
			if m, ok := read.(map[string]any); ok {
				read = m["k"]
			}
			if read != test.value {
				t.Errorf("%s is read as %v, not %q", text, read, test.value)
			}
		}
	}
}

// If the settings of a process are too long for one line, they are on several.
func TestLongLineIsWrapped(t *testing.T) {
	p := new(scenarioText)
	long := strings.Repeat("x", flowWidth)
	p.writeField("clients", &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{
		stringNode("client-1"), {Kind: yaml.MappingNode, Content: []*yaml.Node{stringNode("works"), stringNode("1s"), stringNode("key"), stringNode(long)}},
		stringNode("client-2"), {Kind: yaml.MappingNode},
	}})
	want := "clients:\n  client-1:\n    works: 1s\n    key: " + long + "\n  client-2: {}\n"
	if got := p.String(); got != want {
		t.Errorf("the field is written as\n%swant\n%s", got, want)
	}
}

// IsUnedited detects a change of any byte in a file that a search has written.
func TestIsUnedited(t *testing.T) {
	d := fileCase{name: "wrote", base: workload("single"), seed: 1}
	pause := item{Kind: "pause", Target: "client-1", Before: "client-1 write", For: 60 * second}.fault()
	written, err := d.writeFile(t, runs.WorldSpec{Faults: []runs.Fault{pause}}, locks.Kind{}, 10*second)
	if err != nil {
		t.Fatal(err)
	}
	file := written.text
	if !IsUnedited(file) {
		t.Fatalf("IsUnedited is false for a file that was just written:\n%s", file)
	}
	for i := range file {
		edited := bytes.Clone(file)
		if edited[i] ^= 1; IsUnedited(edited) {
			t.Errorf("IsUnedited is true although byte %d (%q) was changed", i, file[i])
		}
		if IsUnedited(slices.Delete(bytes.Clone(file), i, i+1)) {
			t.Errorf("IsUnedited is true although byte %d (%q) was deleted", i, file[i])
		}
	}
	text := string(file)
	mark := text[strings.Index(text, "# Checksum "):]
	mark = mark[:strings.Index(mark, "\n")+1]
	for name, edited := range map[string]string{
		"an empty file":                    "",
		"a line is added":                  text + "# mine\n",
		"no newline at the end":            strings.TrimSuffix(text, "\n"),
		"no checksum":                      strings.Replace(text, mark, "", 1),
		"the checksum is moved to the end": strings.Replace(text, mark, "", 1) + mark,
		"two checksums":                    mark + text,
		"lines end as on Windows":          strings.ReplaceAll(text, "\n", "\r\n"),
	} {
		if IsUnedited([]byte(edited)) {
			t.Errorf("%s: IsUnedited is true, want false", name)
		}
	}
}
