package scenarios

import (
	"fmt"
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/trace"
)

// spellingPlaces has a scenario for each kind of condition, with %s in place of the
// condition.
var spellingPlaces = map[string]string{
	"point":   "    after: %s\n    pause: client-1\n",
	"step":    "    before: %s\n    pause: client-1\n",
	"message": "    hold: %s\n",
	"witness": "    pause: client-1\nwitnesses:\n  - %s\n",
}

// spellingStory returns the scenario in which a text is the condition of one kind.
func spellingStory(place, text string) string {
	return `title: t
lock: {kind: redlock, ttl: 30s}
nodes: {copy: {replica-of: redis-1}}
services: {proxy: {}}
clients:
  client-1: {}
  client-2: {}
  backup: {}
faults:
  - for: 5s
` + fmt.Sprintf(spellingPlaces[place], `"`+strings.ReplaceAll(text, `"`, `\"`)+`"`)
}

// For each misspelt text the hint suggests what was meant.
func TestHintsForMisspeltConditions(t *testing.T) {
	// For each kind of condition: the misspelt text, and the hint.
	for place, cases := range map[string][][2]string{
		"point": {
			// Mistakes in the possessive.
			{"client-1 keys expired", "client-1's keys expired"},
			{"client-1s keys expired", "client-1's keys expired"},
			{"client-1’s keys expired", "client-1's keys expired"},
			{"client-1' keys expired", "client-1's keys expired"},
			{"client-1's key expired", "client-1's keys expired"},
			{"client-1's keys expire", "client-1's keys expired"},
			{"client-1's keys have expired", "client-1's keys expired"},
			{"client-1's keys are expired", "client-1's keys expired"},
			{"the keys of client-1 expired", "client-1's keys expired"},
			{"client-2 expired", "client-2's keys expired"},
			{"keys expired", "client-1's keys expired"},
			{"client-2's lease expired", "client-2's keys expired"},
			{"client-2's lock expires", "client-2's keys expired"},
			{"client-1 key expired on redis-2", "client-1's key expired on redis-2"},
			{"client-1's keys expired on redis-2", "client-1's key expired on redis-2"},
			{"client-1's key expired at redis-2", "client-1's key expired on redis-2"},
			{"redis-3 clock jumped", "redis-3's clock jumped"},
			{"redis-3's clock jumps", "redis-3's clock jumped"},
			{"the clock of redis-3 jumped", "redis-3's clock jumped"},
			{"client-1's acquired", "client-1 acquired"},
			{"client-1's write", "client-1 wrote"},
			// Mistakes in the verb.
			{"client-1 aquired", "client-1 acquired"},
			{"client-1 acquires", "client-1 acquired"},
			{"client-1 acquires the lock", "client-1 acquired"},
			{"client-1 has acquired", "client-1 acquired"},
			{"client-1 got the lock", "client-1 acquired"},
			{"client-1 writes", "client-1 wrote"},
			{"client-1 writen", "client-1 wrote"},
			{"client-1 releases", "client-1 released"},
			{"client-2 relesaed", "client-2 released"},
			{"client-2 released the lock", "client-2 released"},
			{"client-2 extends", "client-2 extended"},
			{"client-2 fails to acquire", "client-2 failed to acquire"},
			{"client-2 failed acquire", "client-2 failed to acquire"},
			{"client-2 gives up", "client-2 gave up"},
			{"client-1 refused", "client-1 was refused"},
			{"client-1 is refused", "client-1 was refused"},
			{"client-1 was paused", "client-1 paused"},
			{"client-1 resumes", "client-1 resumed"},
			{"redis-2 promoted", "redis-2 was promoted"},
			{"redis-2 is promoted", "redis-2 was promoted"},
			{"redis-2 restarts", "redis-2 restarted"},
			{"redis-2 died", "redis-2 crashed"},
			{"client-1 hold redis-2", "client-1 holds redis-2"},
			{"client-1 holds on redis-2", "client-1 holds redis-2"},
			{"client-2 done", "client-2 finished"},
			{"start", "the start"},
			{"at the start", "the start"},
			// Mistakes in names.
			{"cleint-1 keys expired", "client-1's keys expired"},
			{"client1 keys expired", "client-1's keys expired"},
			{"client 2 acquired", "client-2 acquired"},
			{"Client-2 acquired the lock", "client-2 acquired"},
			{"redis 3 crashes", "redis-3 crashed"},
			{"bakcup writes", "backup wrote"},
			{"proxi crashes", "proxy crashed"},
			// Mistakes in points about the storage.
			{"storage applies client-1's write", "storage applied client-1's write"},
			{"storage applied client-1 write", "storage applied client-1's write"},
			{"storage applied the write of client-1", "storage applied client-1's write"},
			{"client-1's write applied", "storage applied client-1's write"},
			{"storage rejected client-2's write", "storage refused client-2's write"},
			{"storage refuses client-2's read", "storage refused client-2's read"},
			{"storage applied client-1's wrote", "storage applied client-1's write"},
			// Mistakes in points about messages.
			{"client-1 request to redis-2 is in flight", "client-1's request to redis-2 is in flight"},
			{"client-1's request to redis-2 in flight", "client-1's request to redis-2 is in flight"},
			{"client-1's request to redis-2 is in-flight", "client-1's request to redis-2 is in flight"},
			{"client-1's request to redis-2 is sent", "client-1's request to redis-2 is in flight"},
			{"client-1's request to redis-2 arrives", "client-1's request to redis-2 arrived"},
			{"client-1's aquire request to redis-2 arrived", "client-1's acquire request to redis-2 arrived"},
			{"client-1 writes request to storage arrived", "client-1's write request to storage arrived"},
			{"client-1's request for acquire to redis-2 arrived", "client-1's acquire request to redis-2 arrived"},
			{"redis-2 reply to client-1 arrived", "redis-2's reply to client-1 arrived"},
			{"redis-2's reply to client-1 acquire arrived", "redis-2's reply to client-1's acquire arrived"},
			{"redis-2's response to client-1 arrived", "redis-2's reply to client-1 arrived"},
			{"all replies to client-1's acquire are in flight", "every reply to client-1's acquire is in flight"},
			{"every reply to client-1 acquire is in flight", "every reply to client-1's acquire is in flight"},
			{"every request to client-1's acquire arrived", "every request of client-1's acquire arrived"},
			// Mistakes in the number of times.
			{"client-1 acquired 2nd time", "client-1 acquired, 2nd time"},
			{"client-1 acquired, second time", "client-1 acquired, 2nd time"},
			{"client-1 acquired for the third time", "client-1 acquired, 3rd time"},
			{"client-1 acquired, 2", "client-1 acquired, 2nd time"},
			{"client-1 acquired, 2nd", "client-1 acquired, 2nd time"},
			{"client-1 acquired, 2 times", "client-1 acquired, 2nd time"},
			{"client-1 acquired twice", "client-1 acquired, 2nd time"},
			{"client-1 keys expired, 2nd time", "client-1's keys expired, 2nd time"},
			// Mistakes in the delay.
			{"5 after client-1 acquired", "5s after client-1 acquired"},
			{"5 s after client-1 acquired", "5s after client-1 acquired"},
			{"5 seconds after client-1 acquired", "5s after client-1 acquired"},
			{"5sec after client-1 acquired", "5s after client-1 acquired"},
			{"500 milliseconds after client-1 acquired", "500ms after client-1 acquired"},
			{"1 minute after client-1 aquired", "1m after client-1 acquired"},
			{"after 5s client-1 acquired", "5s after client-1 acquired"},
			{"5s client-1 acquired", "5s after client-1 acquired"},
			{"client-1 acquired + 5s", "5s after client-1 acquired"},
			{"5s after client-1 keys expired", "5s after client-1's keys expired"},
			{"5s later than client-1 acquired", "5s after client-1 acquired"},
			// Mistakes in points with alternatives.
			{"client-1 acquired or client-2 keys expired", "client-1 acquired or client-2's keys expired"},
			{"client-1 acquires or 5 after client-2 writes", "client-1 acquired or 5s after client-2 wrote"},
		},
		"step": {
			{"client-1 writes", "client-1 write"},
			{"client-1 wrote", "client-1 write"},
			{"client-1's write", "client-1 write"},
			{"client-1 aquire", "client-1 acquire"},
			{"client-1 acquired", "client-1 acquire"},
			{"client-1 released", "client-1 release"},
			{"client-1 writing", "client-1 write"},
			{"client 1 write", "client-1 write"},
			{"client-1 write 2nd time", "client-1 write, 2nd time"},
			{"client-1 write, second time", "client-1 write, 2nd time"},
			{"write", "client-1 write"},
		},
		"message": {
			{"client-1 write request to storage", "client-1's write request to storage"},
			{"client-1's write to storage", "client-1's write request to storage"},
			{"client-1's writes request to storage", "client-1's write request to storage"},
			{"client-1's request redis-2", "client-1's request to redis-2"},
			{"redis-3 reply to client-1", "redis-3's reply to client-1"},
			{"redis-3's reply to client-1 acquire", "redis-3's reply to client-1's acquire"},
			{"redis-3's answer to client-1's aquire", "redis-3's reply to client-1's acquire"},
			{"client-1's acquire request to redis-2, third time", "client-1's acquire request to redis-2, 3rd time"},
			{"client-1's acquire request to redis-2 3rd time", "client-1's acquire request to redis-2, 3rd time"},
			{"the write request of client-1 to storage", "client-1's write request to storage"},
		},
		"witness": {
			{"client-1 keys expired", "client-1's keys expired"},
			{"client-1 keys expired while client-1 was paused", "client-1's keys expired while client-1 was paused"},
			{"client-1's keys expired while client-1 paused", "client-1's keys expired while client-1 was paused"},
			{"client-1's keys expired while client-1 is paused", "client-1's keys expired while client-1 was paused"},
			{"client-1's keys expired while client-1's paused", "client-1's keys expired while client-1 was paused"},
			{"client-1's keys expired during client-1 was paused", "client-1's keys expired while client-1 was paused"},
			{"client-2 acquired while redis-1 is down", "client-2 acquired while redis-1 was down"},
			{"client-2 acquires before client-1 writes", "client-2 acquired before client-1 wrote"},
			{"client-2 acquired after client-1 keys expired", "client-2 acquired after client-1's keys expired"},
			{"5s after client-1 acquired", "client-1 acquired"},
		},
	} {
		for _, c := range cases {
			t.Run(place+"/"+c[0], func(t *testing.T) {
				_, err := Parse("x.yaml", []byte(spellingStory(place, c[0])))
				if err == nil {
					t.Fatal("Parse accepts the misspelt text")
				}
				want := "did you mean " + quote(c[1]) + "?"
				if !strings.HasSuffix(err.Error(), "; "+want) || strings.Contains(err.Error(), "\n") {
					t.Errorf("\nthe error is %s\nwant one that ends with %s", err, want)
				}
				if _, err := Parse("x.yaml", []byte(spellingStory(place, c[1]))); err != nil {
					t.Errorf("Parse refuses its own hint: %v", err)
				}
			})
		}
	}
}

// If no valid text is similar, the hint suggests nothing, and the error lists the valid
// forms.
func TestNoHintWithoutASimilarText(t *testing.T) {
	for place, texts := range map[string][]string{
		"point":   {"client-2 slept", "it went wrong", "lunch", "client-1", "", strings.Repeat("client-1 acquires or ", 40) + "client-1 acquires"},
		"step":    {"client-1 sleep", "client-1", "it"},
		"message": {"a letter", "client-1"},
		"witness": {"it went wrong", "client-1 acquired while it rained"},
	} {
		for _, text := range texts {
			_, err := Parse("x.yaml", []byte(spellingStory(place, text)))
			if err == nil || strings.Contains(err.Error(), "did you mean") {
				t.Errorf("%s %q: the error is %v; want one without a hint", place, text, err)
			}
		}
	}
}

// Every form is valid in the grammar once names are filled in.
func TestFormsAreValid(t *testing.T) {
	names := strings.NewReplacer("CLIENT", "client-1", "CALLER", "client-1", "NODE", "redis-1", "SERVER", "redis-1", "PROCESS", "redis-1", "STEP", "acquire", "REQUEST", "write")
	for kind, forms := range map[string][]string{"point": trace.PointForms(), "step": trace.StepForms(), "message": trace.MessageForms()} {
		for _, form := range forms {
			var err error
			switch text := names.Replace(form); kind {
			case "point":
				_, err = trace.ParsePoint(text)
			case "step":
				_, err = trace.ParseStepPoint(text)
			case "message":
				_, err = trace.ParseMessage(text)
			}
			if err != nil {
				t.Errorf("the form %s is refused: %v", form, err)
			}
		}
	}
}

// The hint understands durations in other notations and words.
func TestHintsForMisspeltDurations(t *testing.T) {
	for text, want := range map[string]string{
		"5 s": "5s", "5 sec": "5s", "5secs": "5s", "30 seconds": "30s", "1 minute": "1m", "1min 30s": "1m30s", "1 m and 30 s": "1m30s",
		"500 msec": "500ms", "500MS": "500ms", "2 hours": "2h", "10 micros": "10us",
	} {
		_, err := Parse("x.yaml", []byte(simtest.Spoil("ttl: 30s", "ttl: "+text)))
		if hint := "did you mean " + quote(want) + "?"; err == nil || !strings.Contains(err.Error(), hint) {
			t.Errorf("the error for the TTL %q is %v; want the hint %s", text, err, hint)
		}
	}
}

// A long hint is not shortened, because the user may want to copy it.
func TestLongHintIsNotCut(t *testing.T) {
	const want = "client-2 acquired, 2nd time or 30s after client-1's write request to storage arrived"
	text := strings.Replace(want, "acquired", "aquired", 1)
	_, err := Parse("x.yaml", []byte(spellingStory("point", text)))
	if err == nil || !strings.HasSuffix(err.Error(), `did you mean "`+want+`"?`) {
		t.Errorf("the error is %v\nwant the hint %s", err, want)
	}
}
