package libraries_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// docs/claims.md states figures of the scenario same-alone, in which one client wants the
// lock: how long it takes until the lock is granted, and how many round trips and messages
// a section costs.
func TestClaimsCiteTheFiguresOfARun(t *testing.T) {
	document := text(t, "claims.md")
	for _, c := range []struct {
		lock, says      string        // says is a text of the document
		acquire         time.Duration // rounded to a tenth of a millisecond
		trips, messages int64
	}{
		{"single", "A section takes two round trips on one Redis node, on a row in PostgreSQL and on etcd", 1500 * time.Microsecond, 2, 5},
		{"single", "Redis takes five, because the first release also sends the script", 1500 * time.Microsecond, 2, 5},
		{"single", "The grant comes after 1.5 ms with one node and with a row", 1500 * time.Microsecond, 2, 5},
		{"single", "with three nodes the grant takes 4.9 ms, and 1.5 ms on one node", 1500 * time.Microsecond, 2, 5},
		{"single", "one Redis node and a row in PostgreSQL both take two for a section, and 1.5 ms for the grant", 1500 * time.Microsecond, 2, 5},
		{"postgres-lease", "two round trips are four messages. PostgreSQL takes these four.", 1500 * time.Microsecond, 2, 4},
		{"postgres-lease", "one Redis node and a row in PostgreSQL both take two for a section, and 1.5 ms for the grant", 1500 * time.Microsecond, 2, 4},
		{"etcd", "etcd takes nine, with the messages by which its client keeps its session alive", 4400 * time.Microsecond, 2, 9},
		{"etcd", "and after 4.4 ms with etcd", 4400 * time.Microsecond, 2, 9},
		{"redlock", "with three nodes the grant takes 4.9 ms, and 1.5 ms on one node", 4900 * time.Microsecond, 7, 14},
		{"redsync", "redsync does so, and takes 1.8 ms", 1800 * time.Microsecond, 3, 14},
	} {
		if !strings.Contains(document, c.says) {
			t.Errorf("docs/claims.md does not say %q", c.says)
		}
		figures := figuresOf(runVariant(t, variant(t, "same-alone", ""), c.lock)[0])
		if got := time.Duration(figures["time-to-acquire: median"]).Round(100 * time.Microsecond); got != c.acquire {
			t.Errorf("%s: the median time to acquire is %s, want %s", c.lock, got, c.acquire)
		}
		if got := figures["traffic: round trips per section"]; got != c.trips {
			t.Errorf("%s: a section takes %d round trips, want %d", c.lock, got, c.trips)
		}
		if got := figures["traffic: messages per section"]; got != c.messages {
			t.Errorf("%s: a section takes %d messages, want %d", c.lock, got, c.messages)
		}
	}
}

// docs/claims.md states figures of the scenario same-holder-dies with the seeds 1 to 5: how
// long other clients wait after the holder has died.
func TestClaimsCiteTheWaitAfterACrash(t *testing.T) {
	document := text(t, "claims.md")
	for _, c := range []struct {
		locks             []string
		says              string
		shortest, longest time.Duration // rounded to a hundred milliseconds
	}{
		{[]string{"single", "postgres-lease", "etcd"}, "on Redis, on a lease row in a database and on etcd (8.0 to 8.4 s)", 8 * time.Second, 8400 * time.Millisecond},
		{[]string{"zookeeper"}, "On ZooKeeper (9.3 to 10.5 s)", 9300 * time.Millisecond, 10500 * time.Millisecond},
		{[]string{"kubernetes"}, "Kubernetes (9.5 to 12.4 s, seeds 1 to 5)", 9500 * time.Millisecond, 12400 * time.Millisecond},
		{[]string{"consul"}, "On Consul, with its lock-delay, they wait more than three times the TTL (33 s)", 33 * time.Second, 33 * time.Second},
		// 8 ms are rounded to 0.
		{[]string{"postgres-advisory"}, "If the lock belongs to a connection that is closed when the holder dies, they wait 8 ms", 0, 0},
	} {
		if !strings.Contains(document, c.says) {
			t.Errorf("docs/claims.md does not say %q", c.says)
		}
		var waits []time.Duration
		for _, lock := range c.locks {
			for seed := range uint64(5) {
				runs, notApplicable, err := variant(t, "same-holder-dies", "").RunBoth(scenarios.RunOptions{Seed: seed + 1, Lock: lock})
				if err != nil || notApplicable != "" {
					t.Fatal(err, notApplicable)
				}
				waits = append(waits, time.Duration(figuresOf(runs[0])["wait-after-crash: longest"]).Round(100*time.Millisecond))
			}
		}
		if shortest, longest := slices.Min(waits), slices.Max(waits); shortest != c.shortest || longest != c.longest {
			t.Errorf("%v: others wait from %s to %s, want from %s to %s", c.locks, shortest, longest, c.shortest, c.longest)
		}
	}
}

// docs/questions.md states figures of the scenario granularity: how a finer lock changes
// the throughput, the attempts and the messages of the lock.
func TestQuestionsCiteTheFiguresOfGranularity(t *testing.T) {
	document := strings.Join(strings.Fields(text(t, "questions.md")), " ")
	for _, says := range []string{
		"with one lock 462 sections a minute complete, with one for each shard 1,372, and with one for each file 3,351",
		"With one lock 39 attempts fail, with one for each shard 7, and with one for each file none",
		"from five for each section to three",
	} {
		if !strings.Contains(document, says) {
			t.Errorf("docs/questions.md does not say %q", says)
		}
	}
	for _, c := range []struct {
		variant                       string
		perMinute, failed, perSection int64 // sections, attempts, and requests to the node
	}{
		{"one-lock", 462, 39, 5}, {"per-shard", 1372, 7, 3}, {"per-file", 3351, 0, 3},
	} {
		figures := figuresOf(runVariant(t, variant(t, "granularity", c.variant), "single")[0])
		perMinute, failed, perSection := figures["sections: per minute"], figures["attempts: failed"], figures["lock-commands: per section granted"]
		if perMinute != c.perMinute || failed != c.failed || perSection != c.perSection {
			t.Errorf("%s: %d sections a minute, %d attempts failed, %d requests for each section; want %d, %d and %d",
				c.variant, perMinute, failed, perSection, c.perMinute, c.failed, c.perSection)
		}
	}
}

// docs/claims.md states how many messages the members of etcd send each other for one
// acquisition, if a follower receives the request. The test counts them until the answer.
func TestClaimsCountTheMessagesOfEtcd(t *testing.T) {
	const says = "if a follower of three etcd members gets the request, each change takes seven messages between the servers"
	if !strings.Contains(text(t, "claims.md"), says) {
		t.Errorf("docs/claims.md does not say %q", says)
	}
	between, asked := 0, false
	for _, ev := range runVariant(t, variant(t, "same-alone", ""), "etcd")[0].History.Trace.Events {
		atClient := strings.HasPrefix(ev.Process, "client-") || strings.HasPrefix(ev.Peer, "client-")
		switch {
		case ev.Kind == trace.KindBegin && ev.Step == trace.Acquire:
			asked = true
		case ev.Kind == trace.KindEnd && ev.Process == "client-1" && ev.Step == trace.Acquire && ev.OK:
			if between != 7 {
				t.Errorf("the members sent %d messages until the grant, want 7", between)
			}
			return
		case asked && ev.Kind == trace.KindSend && !atClient:
			between++
		}
	}
	t.Error("the lock was not granted")
}

// figuresOf returns the figures of all measures of a run, by the names of the measure and
// the figure.
func figuresOf(o scenarios.RunResult) map[string]int64 {
	figures := map[string]int64{}
	for _, m := range o.Measures {
		for _, f := range m.Figures {
			figures[m.Name+": "+f.Name] = f.Value
		}
	}
	return figures
}

// text returns the text of a file in docs/.
func text(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// variant returns a variant of a scenario of the catalogue, by its name.
func variant(t *testing.T, scenario, name string) *scenarios.Variant {
	t.Helper()
	s, err := scenarios.Open(scenario)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range s.Variants {
		if v.Name == name {
			return v
		}
	}
	t.Fatalf("%s has no variant %q", scenario, name)
	return nil
}
