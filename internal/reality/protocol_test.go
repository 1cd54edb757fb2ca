package reality_test

import (
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/reality"
)

// A line that is not a message is refused with an error that says what is wrong with it.
func TestParseAnswer(t *testing.T) {
	for line, want := range map[string]string{
		`{"type":"ok"}`: "",
		`{"type":"acquired","token":7,"until":1764238325123.5,"notifies":true}`: "",
		`{"type":"ready","key":"mutex:x","servers":1,"quorum":1}`:               "",
		`{"type":"failed","error":"another client holds it"}`:                   "",
		`{"type":"lost","section":2}`:                                           "",

		`{"type":"granted"}`:             `"granted" is not a type of message`,
		`{}`:                             `"" is not a type of message`,
		`{"type":"acquired","until":30}`: "write milliseconds since 1970",
		`{"type":"acquired","until":1764238325123456}`: "write milliseconds since 1970",
		`{"type":"acquired","until":-1}`:               "write milliseconds since 1970",
		`{"type":"acquired","lease":30}`:               `unknown field "lease"`,
		`{"type":"ok"} {"type":"ok"}`:                  "more than one message",
		`{"type":"lost","section":-1}`:                 "must not be below 0",
		`starting up`:                                  "is not a message",
		``:                                             "is not a message",
		`{"type":"failed","error":"` + strings.Repeat("x", 70_000) + `"}`: "at most 65536",
	} {
		_, err := reality.ParseAnswer([]byte(line))
		switch {
		case want == "" && err != nil:
			t.Errorf("%.100s: %v", line, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%.100s: the error is %v, want one with %q", line, err, want)
		}
	}
}

// Whatever a program writes, the parser does not panic, and what it accepts is a message
// with a type that exists and times that make sense.
func FuzzParseAnswer(f *testing.F) {
	f.Add([]byte(`{"type":"acquired","token":7,"until":1764238325123.5}`))
	f.Add([]byte(`{"type":"renewed","until":1e12,"section":1}`))
	f.Add([]byte("{\"type\":\"ok\"}\r\n"))
	f.Fuzz(func(t *testing.T, line []byte) {
		a, err := reality.ParseAnswer(line)
		if err != nil {
			return
		}
		if a.Type == "" || a.Until != 0 && (a.Until < 1e12 || a.Until > 4e12) || a.Section < 0 || a.Quorum < 0 || a.Servers < 0 {
			t.Errorf("%q was accepted as %+v", line, a)
		}
	})
}
