package trace

import (
	"strings"
	"testing"
)

func TestParsePoint(t *testing.T) {
	for _, test := range []struct{ text, names string }{
		{"client-1 acquired", "client-1"},
		{"client-1 failed to acquire", "client-1"},
		{"client-1 read", "client-1"},
		{"client-1 worked", "client-1"},
		{"client-1 wrote", "client-1"},
		{"client-1 extended", "client-1"},
		{"client-1 released", "client-1"},
		{"client-1 cancelled", "client-1"},
		{"client-1 was refused", "client-1"},
		{"client-1 gave up", "client-1"},
		{"client-1 finished", "client-1"},
		{"client-1 holds redis-2", "client-1 redis-2"},
		{"client-1's keys expired", "client-1"},
		{"client-1's key expired on redis-2", "client-1 redis-2"},
		{"client-1's clock jumped", "client-1"},
		{"storage applied client-1's write", "client-1"},
		{"storage refused client-1's read", "client-1"},
		{"redis-1 paused", "redis-1"},
		{"redis-1 resumed", "redis-1"},
		{"storage crashed", "storage"},
		{"redis-1 restarted", "redis-1"},
		{"redis-1 synced", "redis-1"},
		{"redis-2 was promoted", "redis-2"},
		{"client-1's request to redis-1 is in flight", "client-1 redis-1"},
		{"client-1's write request to storage arrived", "client-1 storage"},
		{"redis-3's reply to client-1 arrived", "client-1 redis-3"},
		{"redis-3's reply to client-1's acquire is in flight", "client-1 redis-3"},
		{"every reply to client-1's acquire is in flight", "client-1"},
		{"every request of client-1's acquire arrived", "client-1"},
		{"client-1 acquired, 2nd time", "client-1"},
		{"client-1 acquired, 21st time", "client-1"},
		{"client-1 acquired, 3rd time", "client-1"},
		{"5s after client-1 acquired", "client-1"},
		{"client-1 acquired, 11th time", "client-1"},
		{"after client-1 write", "client-1"},
		{"after client-1 write, 2nd time", "client-1"},
		{"5s after client-1 extend, 2nd time", "client-1"},
		{"client-1 acquired or client-2's keys expired", "client-1 client-2"},
		{"the start", ""},
		{"1s after the start or client-1 acquired", "client-1"},
		{"1m30s after client-1 released or 5ms after redis-1 crashed, 2nd time", "client-1 redis-1"},
	} {
		p, err := ParsePoint(test.text)
		if err != nil {
			t.Errorf("%q: %v", test.text, err)
			continue
		}
		checkEqual(t, "String of "+test.text, p.String(), test.text)
		checkEqual(t, "Names of "+test.text, strings.Join(p.Names(), " "), test.names)
		checkEqual(t, "IsZero of "+test.text, p.IsZero(), false)
		text, err := p.MarshalText()
		if err != nil || string(text) != test.text {
			t.Errorf("%q is marshalled as %q, %v; want the same text", test.text, text, err)
		}
	}
	for text, want := range map[string]string{
		"  client-1 \n  acquired  ":                          "client-1 acquired",
		"every reply to client-1 are in flight":              "every reply to client-1 is in flight",
		"0s after client-1 acquired":                         "client-1 acquired",
		"1500ms after client-1 acquired":                     "1.5s after client-1 acquired",
		"60s after client-1 acquired, 2nd time":              "1m after client-1 acquired, 2nd time",
		"60m after client-1 acquired or 90s after the start": "1h after client-1 acquired or 1m30s after the start",
	} {
		if p, err := ParsePoint(text); err != nil || p.String() != want {
			t.Errorf("%q is written as %q, %v; want %q", text, p, err, want)
		}
	}
	checkEqual(t, "IsZero of the zero point", Point{}.IsZero(), true)
}

// The error for a text that is not a point shows what can be written.
func TestParseBadPoint(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", "empty"},
		{"   ", "empty"},
		{"client-1", "the process, then what"},
		{"client-1 aquired", "acquired"},
		{"client-1 is paused", "paused"},
		{"client-1's key expired", "key expired on NODE"},
		{"client-1's lock expired", "keys expired"},
		{"client-1 holds", "holds NODE"},
		{"client-1 holds redis-1 redis-2", "holds NODE"},
		{"soon after client-1 acquired", "duration"},
		{"-5s after client-1 acquired", "duration"},
		{"5 after client-1 acquired", "duration"},
		{"client-1 acquired, twice", "2nd time"},
		{"client-1 acquired, 0th time", "2nd time"},
		{"client-1 acquired, -1st time", "2nd time"},
		{"client-1 acquired, 2 time", "2nd time"},
		{"client-1 acquired, 9999999th time", "2nd time"},
		{"client-1 acquired or", "client-1 acquired or"},
		{"the start, 2nd time", "only one start"},
		{"client-1 acquired or client-2", "the process, then what"},
		{"client-1 request to storage is in flight", "client-1's write request to storage"},
		{"client-1's write to storage is in flight", "client-1's write request to storage"},
		{"client-1's wait request to storage arrived", "acquire, mint, mark, read, work, check, write, extend, release"},
		{"every message arrived", "every reply to client-1's acquire"},
		{"every reply to client-1's lock arrived", "every reply to client-1's acquire"},
		{"storage applied client-1's release", ""},
		{"storage applied write", ""},
		{" is in flight", ""},
		{"arrived", ""},
	} {
		p, err := ParsePoint(test.text)
		if err == nil {
			t.Errorf("%q was parsed as %v, want an error", test.text, p)
		} else if !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: the error is %q, want %q in it", test.text, err, test.want)
		}
	}
}

func TestParseStepPoint(t *testing.T) {
	for text, want := range map[string]StepPoint{
		"client-1 write":              {"client-1", Write, 0},
		" client-1  acquire ":         {"client-1", Acquire, 0},
		"client-1 write, 2nd time":    {"client-1", Write, 2},
		"client-1 extend, 3rd time":   {"client-1", Extend, 3},
		"client-1 extend, 11th time":  {"client-1", Extend, 11},
		"client-1 extend, 12th time":  {"client-1", Extend, 12},
		"client-1 extend, 13th time":  {"client-1", Extend, 13},
		"client-1 extend, 21st time":  {"client-1", Extend, 21},
		"client-1 extend, 22nd time":  {"client-1", Extend, 22},
		"client-1 extend, 103rd time": {"client-1", Extend, 103},
	} {
		got, err := ParseStepPoint(text)
		if err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
		checkEqual(t, "String of "+text, got.String(), strings.Join(strings.Fields(text), " "))
		checkEqual(t, "IsZero of "+text, got.IsZero(), false)
	}
	for _, bad := range []string{"", "write", "client-1", "client-1 wrote", "client-1 writes", "client-1 write now", "client-1 write, often", "client-1 write, 0th time"} {
		if p, err := ParseStepPoint(bad); err == nil {
			t.Errorf("%q was parsed as %+v, want an error", bad, p)
		}
	}
	checkEqual(t, "IsZero of the zero step point", StepPoint{}.IsZero(), true)
}

// Parsing never panics, whatever the text is. The text of a parsed value can be parsed,
// with the same result.
func FuzzParsePoint(f *testing.F) {
	for _, s := range []string{
		"client-1 acquired", "5s after client-1's keys expired, 2nd time or storage applied client-2's write",
		"every reply to client-1's acquire is in flight", "redis-1's reply to client-1's write arrived", "client-1 holds redis-1",
		"'s is in flight", "every arrived", " or ", ", 1st time", "1h after ", "every is in flight", "x arrived",
		"'s reply to 0", "client-1 cancelled, 22nd time",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if p, err := ParsePoint(s); err == nil {
			again, err := ParsePoint(p.String())
			if err != nil || !again.Equal(p) {
				t.Errorf("%q was parsed as %q, and that as %q, %v; want the same", s, p, again, err)
			}
		}
		if p, err := ParseStepPoint(s); err == nil {
			again, err := ParseStepPoint(p.String())
			if err != nil || again.String() != p.String() {
				t.Errorf("%q was parsed as %q, and that as %q, %v; want the same", s, p, again, err)
			}
		}
		if m, err := ParseMessage(s); err == nil {
			again, err := ParseMessage(m.String())
			if err != nil || again != m {
				t.Errorf("%q was parsed as %+v, and that as %+v, %v; want the same", s, m, again, err)
			}
		}
	})
}

// Fits accepts only roles whose processes can do what the point says.
func TestPointFits(t *testing.T) {
	role := func(name string) (Role, bool) {
		switch {
		case name == StorageName:
			return RoleStorage, true
		case strings.HasPrefix(name, "client-"):
			return RoleClient, true
		case strings.HasPrefix(name, "redis-"):
			return RoleNode, true
		}
		return "", false
	}
	for text, fits := range map[string]bool{
		"client-1 wrote":                                true,
		"redis-1 wrote":                                 false,
		"stranger wrote":                                true, // another check reports an unknown process
		"redis-1 synced":                                true,
		"client-1 synced":                               false,
		"storage paused":                                true,
		"storage restarted":                             true,
		"client-1 restarted":                            false,
		"client-1 holds redis-1":                        true,
		"client-1 holds client-2":                       false,
		"client-1's keys expired":                       true,
		"redis-1's keys expired":                        false,
		"client-1's request to storage arrived":         true,
		"client-1's request to client-2 arrived":        false,
		"client-1 wrote or redis-1 wrote":               false,
		"redis-1's reply to client-1 is in flight":      true,
		"client-1's reply to redis-1 is in flight":      false,
		"5s after redis-1's clock jumped, 2nd time":     true,
		"storage applied redis-1's write":               false,
		"every reply to redis-1's acquire is in flight": false,
	} {
		if err := mustParsePoint(text).Fits(role); (err == nil) != fits {
			t.Errorf("%q: the error is %v, want none: %v", text, err, fits)
		}
	}
}

// Rename changes only the names of processes.
func TestRename(t *testing.T) {
	newNames := map[string]string{"client-1": "alice", "redis-1": "bob"}
	rename := func(n string) string {
		if o, known := newNames[n]; known {
			return o
		}
		return n
	}
	for text, want := range map[string]string{
		"client-1 holds redis-1 or client-2 wrote":             "alice holds bob or client-2 wrote",
		"5s after client-1's key expired on redis-1, 2nd time": "5s after alice's key expired on bob, 2nd time",
		"client-1's keys expired or redis-1's clock jumped":    "alice's keys expired or bob's clock jumped",
		"storage applied client-1's write":                     "storage applied alice's write",
		"redis-1's reply to client-1's acquire arrived":        "bob's reply to alice's acquire arrived",
		"every request of client-1's acquire is in flight":     "every request of alice's acquire is in flight",
		"after client-1 write":                                 "after alice write",
		"the start":                                            "the start",
	} {
		checkEqual(t, text, mustParsePoint(text).Rename(rename).String(), want)
	}
	w, err := ParseWitness("client-1 wrote while redis-1 was down")
	if err != nil {
		t.Fatal(err)
	}
	checkEqual(t, "a witness", w.Rename(rename).String(), "alice wrote while bob was down")
	checkEqual(t, "a step", StepPoint{"client-1", Write, 2}.Rename(rename).String(), "alice write, 2nd time")
	checkEqual(t, "a message", NthMessage{Message{Client: "client-1", Peer: "redis-1", Reply: true}, 3}.Rename(rename).String(), "bob's reply to alice, 3rd time")
}
