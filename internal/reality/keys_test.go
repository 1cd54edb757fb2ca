package reality_test

import (
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/reality"
)

func init() {
	programs["plain"] = program{}
	programs["other-key"] = program{prefix: "mutex:"}
	programs["other-key-reported"] = program{prefix: "mutex:", ready: func(c reality.Command, a *reality.Answer) { a.Key = "mutex:" + c.Key }}
	programs["own-key-of-each"] = program{ready: func(c reality.Command, a *reality.Answer) { a.Key = c.Client }}
	programs["too-many-servers"] = program{ready: func(_ reality.Command, a *reality.Answer) { a.Servers = 3 }}
	programs["too-large-quorum"] = program{ready: func(_ reality.Command, a *reality.Answer) { a.Quorum = 2 }}
}

// A run in which no server has had the lock's key says nothing about the lock, unless the
// program reports the real key.
func TestKeyOfTheLock(t *testing.T) {
	const want = `no client has set the key "resource"`
	for name, isSeen := range map[string]bool{"plain": true, "other-key": false, "other-key-reported": true} {
		tr := mustPlay(t, name, "clients:\n  client-1: {}\n")
		if got := strings.Join(tr.Doubts, "; "); isSeen && got != "" || !isSeen && !strings.Contains(got, want) {
			t.Errorf("%s: the doubts are %q; want one with %q: %v", name, got, want, !isSeen)
		}
	}
}

// Programs are refused if they report more servers than the world has, or different keys of one
// lock.
func TestReportOfTheLock(t *testing.T) {
	for name, want := range map[string]string{
		"own-key-of-each":  "different",
		"too-many-servers": "3 servers, but the scenario has 1",
		"too-large-quorum": "quorum of 2, but its lock has 1",
	} {
		_, err := play(t, name, "clients:\n  client-1: {}\n  client-2: {}\n")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v, want one with %q", name, err, want)
		}
	}
}
