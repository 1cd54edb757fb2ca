package command

import (
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/scenarios"
)

// A command of a client that is blank is refused.
func TestBlankClient(t *testing.T) {
	f := &realityFlags{client: " ", times: 1}
	f.format = "text"
	if err := f.checkValues(); err == nil || !strings.Contains(err.Error(), "--client is blank") {
		t.Errorf("the error is %v", err)
	}
}

// With --within a scenario is repeated until that time has ended, also without --times.
// Without it, a scenario is played at most three times as often as it should be seen.
func TestRepetitions(t *testing.T) {
	for _, c := range []struct {
		times         int
		within, since time.Duration
		plays         int
		want          bool
	}{
		{1, 0, time.Second, 1, true},
		{1, time.Minute, time.Second, 1, false},
		{1, time.Minute, 2 * time.Minute, 1, true},
		{3, 0, time.Hour, 8, false},
		{3, 0, time.Second, 9, true},
		{3, time.Minute, time.Second, 9, false},
	} {
		f := &realityFlags{times: c.times, within: c.within}
		if got := f.isEnough(c.plays, c.since); got != c.want {
			t.Errorf("%+v: it is enough: %v", c, got)
		}
	}
}

// The command that plays a run again names its variant and its fencing.
func TestReplayOfARun(t *testing.T) {
	found, err := load([]string{"gc-pause"})
	if err != nil {
		t.Fatal(err)
	}
	j := jobsOf(found, nil)[0]
	got := (&realityFlags{ttl: time.Second}).replayOf(j, &scenarios.Variant{Name: "slow"}, scenarios.On)
	if want := "locksim reality gc-pause --variant slow --fencing on --ttl 1s"; got != want {
		t.Errorf("the command is %q, want %q", got, want)
	}
}
