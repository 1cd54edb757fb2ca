package checks

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// A measurement is what a test expects of one measure for one script: its text as reports
// print it, and its figures as "name=value" with their units.
type measurement struct {
	name, script string
	text         string
	figures      string
}

// measureAll computes one measure for each script, which is a trace written by hand; see
// [script].
func measureAll(t *testing.T, measure string, tests []measurement) {
	t.Helper()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			all := Measures(history.New(parseScript(t, test.script).trace))
			m := all[slices.Index(MeasureNames(), measure)]
			var figures []string
			for _, f := range m.Figures {
				figures = append(figures, fmt.Sprintf("%s=%d%s", f.Name, f.Value, f.Unit))
			}
			if got := Sentences.Measure(m); got != test.text {
				t.Errorf("%s reads %q, want %q", measure, got, test.text)
			}
			if got := strings.Join(figures, " "); got != test.figures {
				t.Errorf("%s has the figures %q, want %q", measure, got, test.figures)
			}
		})
	}
}

func TestTimeToAcquire(t *testing.T) {
	measureAll(t, "time-to-acquire", []measurement{
		{"from the first call to the grant", `
			1s    c1 calls
			2s    c1 fails
			3s    c1 fails
			4s    c1 calls
			5500ms c1 acquires rank=1`,
			"median 4.5s, longest 4.5s", "median=4500000000ns 99th percentile=4500000000ns longest=4500000000ns never granted=0"},
		{"each section has its own wait", `
			0s c1 calls
			1s c1 acquires rank=1
			2s c1 releases
			9s c1 calls
			12s c1 acquires rank=2`,
			"median 2s, longest 3s", "median=2000000000ns 99th percentile=3000000000ns longest=3000000000ns never granted=0"},
		{"the median of three is the middle one", `
			0s c1 calls
			0s c2 calls
			0s c3 calls
			1s c1 acquires rank=1
			2s c2 acquires rank=2
			9s c3 acquires rank=3`,
			"median 2s, longest 9s", "median=2000000000ns 99th percentile=9000000000ns longest=9000000000ns never granted=0"},
		{"clients that gave up, crashed or still wait were never granted the lock", `
			0s c1 calls
			1s c1 acquires rank=1
			1s c2 fails
			2s c2 is-done
			2s c3 calls
			3s c3 crashes
			4s c4 calls
			9s c4 is-cut-off`,
			"median 1s, longest 1s, 3 never granted", "median=1000000000ns 99th percentile=1000000000ns longest=1000000000ns never granted=3"},
		{"no client was granted the lock", `
			0s c1 fails
			1s c1 fails`,
			"no grant, 1 asked in vain", "never granted=1"},
		{"no client asked for the lock", `
			0s c1 is-done`,
			"n/a: nobody asked for the lock", ""},
	})
}

func TestTimeHeld(t *testing.T) {
	measureAll(t, "time-held", []measurement{
		{"three sections: the longest gives the share of the TTL and the least time left", `
			0s  c1 acquires rank=1 ends=30s
			6s  c1 releases
			10s c2 acquires rank=2 ends=40s
			31s c2 releases
			40s c3 acquires rank=3 ends=70s
			49s c3 releases`,
			"median 9s, longest 21s, 70 % of the TTL, at least 9s of the lease left at its release",
			"median=9000000000ns longest=21000000000ns of the TTL=70percent least left=9000000000ns"},
		{"an extended lease: one hold, longer than the TTL", `
			0s  c1 acquires rank=1 ends=30s
			20s c1 extends ends=50s
			45s c1 releases`,
			"median 45s, longest 45s, 150 % of the TTL, at least 5s of the lease left at its release",
			"median=45000000000ns longest=45000000000ns of the TTL=150percent least left=5000000000ns"},
		{"the lock is released after its lease has ended", `
			0s  c1 acquires rank=1 ends=30s
			33s c1 releases`,
			"median 33s, longest 33s, 110 % of the TTL, at least -3s of the lease left at its release",
			"median=33000000000ns longest=33000000000ns of the TTL=110percent least left=-3000000000ns"},
		{"a crash ends a section, without a release", `
			0s  c1 acquires rank=1 ends=30s
			3s  c1 crashes`,
			"median 3s, longest 3s, 10 % of the TTL", "median=3000000000ns longest=3000000000ns of the TTL=10percent"},
		{"a lock without a TTL: no share of it, and no time left", `
			lock L ttl=0s
			0s  c1 acquires rank=1
			3s  c1 releases`,
			"median 3s, longest 3s", "median=3000000000ns longest=3000000000ns"},
		{"the lock is still held at the end of the run", `
			0s  c1 acquires rank=1 ends=30s
			9s  c1 is-cut-off`,
			"n/a: no section ended", ""},
	})
}

func TestLossNoticed(t *testing.T) {
	measureAll(t, "loss-noticed", []measurement{
		{"the lock notifies the client after the end of the lease", `
			0s  c1 acquires rank=1 ends=30s notifies
			33s c1 is-told-it-is-lost
			34s c1 releases`,
			"median 3s, longest 3s", "median=3000000000ns longest=3000000000ns losses=1 never noticed=0"},
		{"the lock notifies the client before the end of the lease", `
			0s  c1 acquires rank=1 ends=30s notifies
			29s c1 is-told-it-is-lost
			34s c1 releases`,
			"median 0s, longest 0s", "median=0ns longest=0ns losses=1 never noticed=0"},
		{"an extend fails, and then a check: the first counts", `
			0s  c1 acquires rank=1 ends=30s
			31s c1 asks-to-extend
			32s c1 fails-to-extend
			33s c1 fails-its-check
			34s c1 releases`,
			"median 2s, longest 2s", "median=2000000000ns longest=2000000000ns losses=1 never noticed=0"},
		{"an extend fails, and the client releases before the end of the lease", `
			0s  c1 acquires rank=1 ends=30s
			8s  c1 asks-to-extend
			9s  c1 fails-to-extend
			10s c1 releases`,
			"median 0s, longest 0s", "median=0ns longest=0ns losses=1 never noticed=0"},
		{"an extend fails, and a later one succeeds", `
			0s  c1 acquires rank=1 ends=30s
			8s  c1 asks-to-extend
			9s  c1 fails-to-extend
			10s c1 extends ends=40s
			11s c1 releases`,
			"n/a: nobody lost a lease", ""},
		{"the storage refuses a write before and after the end of the lease: the second counts", `
			0s  c1 acquires rank=1 ends=30s
			9s  c1 is-refused
			35s c1 is-refused
			36s c1 releases`,
			"median 5s, longest 5s", "median=5000000000ns longest=5000000000ns losses=1 never noticed=0"},
		{"a release begins after the end of the lease and fails", `
			0s  c1 acquires rank=1 ends=30s
			35s c1 asks-to-release
			37s c1 fails-to-release`,
			"median 7s, longest 7s", "median=7000000000ns longest=7000000000ns losses=1 never noticed=0"},
		{"a release begins before the end of the lease and fails", `
			0s  c1 acquires rank=1 ends=30s
			29s c1 asks-to-release
			37s c1 fails-to-release`,
			"n/a: nobody lost a lease", ""},
		{"the client is paused at the end of the lease, and notified later: the pause does not count", `
			0s  c1 acquires rank=1 ends=30s notifies
			20s c1 pauses
			40s c1 resumes
			42s c1 is-told-it-is-lost`,
			"median 2s, longest 2s", "median=2000000000ns longest=2000000000ns losses=1 never noticed=0"},
		{"the client is paused at the end of the lease, and notified when it resumes", `
			0s  c1 acquires rank=1 ends=30s notifies
			20s c1 pauses
			40s c1 resumes
			40s c1 is-told-it-is-lost`,
			"median 0s, longest 0s", "median=0ns longest=0ns losses=1 never noticed=0"},
		{"one client never notices its loss, and another does", `
			0s  c1 acquires rank=1 ends=30s
			35s c1 writes x=0>1
			36s c1 releases
			40s c2 acquires rank=2 ends=70s
			71s c2 asks-to-extend
			71s c2 fails-to-extend`,
			"median 1s, longest 1s, 1 never noticed", "median=1000000000ns longest=1000000000ns losses=2 never noticed=1"},
		{"the client never notices its loss", `
			0s  c1 acquires rank=1 ends=30s
			31s c1 releases`,
			"1 never noticed", "losses=1 never noticed=1"},
		{"the client releases before the end of the lease", `
			0s  c1 acquires rank=1 ends=30s
			29s c1 releases
			40s c2 acquires rank=2`,
			"n/a: nobody lost a lease", ""},
		{"the client crashes before the end of the lease", `
			0s  c1 acquires rank=1 ends=30s
			29s c1 crashes
			40s c2 fails`,
			"n/a: nobody lost a lease", ""},
		{"the run is cut off before the end of the lease", `
			0s  c1 acquires rank=1 ends=30s
			29s c1 is-cut-off`,
			"n/a: nobody lost a lease", ""},
	})
}

func TestReleases(t *testing.T) {
	const held = `
			lock L ttl=30s nodes=A quorum=1
			0s  c1 calls
			0s  A sets by=c1/1 ttl=30s
			0s  A sets by=c1/1 key=tokens
			1s  c1 acquires rank=1`
	measureAll(t, "releases", []measurement{
		{"the key exists when it is released", held + `
			9s  c1 asks-to-release
			9s  A deletes of=c1/1 by=c1/1`,
			"1, of which 0 failed, 0 found nothing to release", "calls=1 failed=0 found nothing=0"},
		{"the key has expired, and another key that the client set does not count", held + `
			31s A expires of=c1/1
			32s c1 asks-to-release
			33s c1 fails-to-release`,
			"1, of which 1 failed, 1 found nothing to release", "calls=1 failed=1 found nothing=1"},
		{"the key has expired, and another client has set it", held + `
			31s A expires of=c1/1
			32s A sets by=c2/1 ttl=30s
			33s c1 releases`,
			"1, of which 0 failed, 1 found nothing to release", "calls=1 failed=0 found nothing=1"},
		{"the node forgot the key in a crash", held + `
			2s  A crashes how=kill
			3s  A restarts
			3s  A forgets of=c1/1
			4s  c1 releases`,
			"1, of which 0 failed, 1 found nothing to release", "calls=1 failed=0 found nothing=1"},
		{"the lock does not say where it keeps its keys", `
			lock L ttl=30s unwatched
			0s  c1 acquires rank=1
			4s  c1 releases`,
			"1, of which 0 failed", "calls=1 failed=0"},
		{"the client crashes without a release", held + `
			4s  c1 crashes`,
			"n/a: no client released the lock", ""},
	})
}

func TestFairness(t *testing.T) {
	measureAll(t, "fairness", []measurement{
		{"each client is granted the lock in the order of the requests", `
			0s c1 calls
			1s c2 calls
			2s c1 acquires rank=1
			3s c2 acquires rank=2`,
			"Jain's index 100 %; at most 0 later requests were granted first", "Jain index=100percent most overtaken=0"},
		{"one of two clients is granted the lock each time", `
			0s c1 acquires rank=1
			1s c2 calls
			2s c1 acquires rank=2
			3s c1 acquires rank=3
			9s c2 is-cut-off`,
			"Jain's index 50 %; at most 2 later requests were granted first", "Jain index=50percent most overtaken=2"},
		{"three clients are granted the lock three times, twice and once", `
			0s c1 acquires rank=1
			1s c2 acquires rank=2
			2s c3 acquires rank=3
			3s c1 acquires rank=4
			4s c2 acquires rank=5
			5s c1 acquires rank=6`,
			"Jain's index 86 %; at most 0 later requests were granted first", "Jain index=86percent most overtaken=0"},
		{"a client that asks again has been waiting since its first request", `
			0s c1 calls
			1s c1 fails
			2s c2 acquires rank=1
			3s c1 calls
			4s c1 acquires rank=2`,
			"Jain's index 100 %; at most 1 later requests were granted first", "Jain index=100percent most overtaken=1"},
		{"a grant of another lock does not count", `
			lock M ttl=30s
			0s c1 calls
			1s c2 acquires rank=1 lock=M
			2s c1 acquires rank=1`,
			"Jain's index 100 %; at most 0 later requests were granted first", "Jain index=100percent most overtaken=0"},
		{"no client was granted the lock", `
			0s c1 fails
			1s c2 fails`,
			"at most 0 later requests were granted first", "most overtaken=0"},
		{"a single client", `
			0s c1 acquires rank=1`,
			"n/a: fewer than two clients wanted the lock", ""},
	})
}

func TestWaitAfterCrash(t *testing.T) {
	measureAll(t, "wait-after-crash", []measurement{
		{"the wait lasts from the crash to the next grant", `
			0s    c1 acquires rank=1 ends=30s
			10s   c1 crashes
			31240ms c2 acquires rank=2 ends=61s
			40s   c2 releases
			41s   c3 acquires rank=3 ends=71s`,
			"21.24s", "longest=21240000000ns dead holders=1 never granted=0"},
		{"another lock's grant does not count", `
			lock M ttl=30s
			0s  c1 acquires rank=1 ends=30s
			10s c1 crashes
			20s c2 acquires rank=1 ends=50s lock=M
			30s c3 acquires rank=2 ends=60s`,
			"20s", "longest=20000000000ns dead holders=1 never granted=0"},
		{"the holder is paused for good", `
			0s  c1 acquires rank=1 ends=30s
			10s c1 pauses
			30s c2 acquires rank=2 ends=60s`,
			"20s", "longest=20000000000ns dead holders=1 never granted=0"},
		{"the holder's step never returns", `
			0s  c1 acquires rank=1 ends=30s
			5s  c1 extends ends=35s
			10s c1 sends message=1
			30s c1 extended ends=60s
			40s c2 acquires rank=2 ends=70s
			90s c1 is-cut-off`,
			"30s", "longest=30000000000ns dead holders=1 never granted=0"},
		{"the holder's extend within its work never returns", `
			0s  c1 acquires rank=1 ends=30s
			2s  c1 starts-to-work
			5s  c1 extends ends=35s
			10s c1 asks-to-extend
			40s c2 acquires rank=2 ends=70s`,
			"30s", "longest=30000000000ns dead holders=1 never granted=0"},
		{"the holder is paused for good during its work", `
			0s  c1 acquires rank=1 ends=30s
			2s  c1 starts-to-work
			10s c1 pauses
			40s c2 acquires rank=2 ends=70s`,
			"30s", "longest=30000000000ns dead holders=1 never granted=0"},
		{"the holder's step returns after the next grant", `
			0s  c1 acquires rank=1 ends=30s
			10s c1 sends message=1
			40s c2 acquires rank=2 ends=70s
			50s c1 lands message=1 x=0>1
			50s c1 hears x=1
			90s c1 is-cut-off`,
			"n/a: no client crashed or hung while it held the lock", ""},
		{"the holder gives up a step that did not return", `
			0s  c1 acquires rank=1 ends=30s
			10s c1 sends message=1
			20s c1 is-done
			40s c2 acquires rank=2 ends=70s`,
			"n/a: no client crashed or hung while it held the lock", ""},
		{"the holder is paused for a while", `
			0s  c1 acquires rank=1 ends=30s
			10s c1 pauses
			30s c2 acquires rank=2 ends=60s
			40s c1 resumes`,
			"n/a: no client crashed or hung while it held the lock", ""},
		{"the holder crashes when its lease has ended", `
			0s  c1 acquires rank=1 ends=30s
			30s c1 crashes
			31s c2 acquires rank=2 ends=61s`,
			"n/a: no client crashed or hung while it held the lock", ""},
		{"the client crashes after its release", `
			0s  c1 acquires rank=1 ends=30s
			9s  c1 releases
			10s c1 crashes
			31s c2 acquires rank=2 ends=61s`,
			"n/a: no client crashed or hung while it held the lock", ""},
		{"a node crashed", `
			0s  c1 acquires rank=1 ends=30s
			10s A crashes
			31s c2 acquires rank=2 ends=61s`,
			"n/a: no client crashed or hung while it held the lock", ""},
		{"the holder crashes, and no client is granted the lock afterwards", `
			lock L ttl=0s
			0s  c1 acquires rank=1
			10s c1 crashes
			31s c2 fails`,
			"n/a: nobody was granted the lock after c1 had crashed or hung", ""},
		{"three holders crash, and two of them are followed by a grant", `
			0s  c1 acquires rank=1 ends=30s
			10s c1 crashes
			30s c2 acquires rank=2 ends=60s
			31s c2 crashes
			60s c3 acquires rank=3 ends=90s
			61s c3 crashes`,
			"longest 29s, 3 dead holders, 1 never granted", "longest=29000000000ns dead holders=3 never granted=1"},
	})
}

func TestAttempts(t *testing.T) {
	measureAll(t, "attempts", []measurement{
		{"two clients: one attempt, and three attempts", `
			0s c1 acquires rank=1
			1s c2 fails
			2s c2 fails
			3s c2 acquires rank=2`,
			"4, of which 2 failed", "calls=4 failed=2 per grant=200hundredths"},
		{"an attempt without an answer has not failed", `
			0s c1 calls
			9s c1 is-cut-off`,
			"1, of which 0 failed", "calls=1 failed=0"},
		{"no client asked for the lock", `
			0s c1 is-done`,
			"n/a: nobody asked for the lock", ""},
	})
}

func TestSplitVotes(t *testing.T) {
	const split = `
		0s c1 calls
		0s c2 calls
		1s A sets by=c1/1 value=v1
		1s B sets by=c1/1 value=v1
		1s C sets by=c2/1 value=v2
		1s D sets by=c2/1 value=v2`
	measureAll(t, "split-votes", []measurement{
		{"two nodes for each of two clients, and the fifth node does not answer", split + `
			2s A deletes by=c1/1 of=c1/1
			2s B deletes by=c1/1 of=c1/1
			3s c1 fails
			3s C deletes by=c2/1 of=c2/1
			3s D deletes by=c2/1 of=c2/1
			4s c2 fails`,
			"in 2 of 2 failed attempts the clients split the votes, so none had a majority", "split=2 failed=2"},
		{"two nodes for each of two clients, and the fifth node decides", split + `
			2s E sets by=c2/1 value=v2
			2s c2 acquires rank=1
			3s c1 fails`,
			"in 0 of 1 failed attempts the clients split the votes, so none had a majority", "split=0 failed=1"},
		{"two, two and one node for three clients, which all fail", split + `
			1s c3 calls
			1s E sets by=c3/1 value=v3
			3s c1 fails
			3s c2 fails
			3s c3 fails`,
			"in 3 of 3 failed attempts the clients split the votes, so none had a majority", "split=3 failed=3"},
		{"a third client asks during the split and gets no node", split + `
			1s c3 calls
			2s c3 fails`,
			"in 1 of 1 failed attempts the clients split the votes, so none had a majority", "split=1 failed=1"},
		{"a third client asks after the split has ended", split + `
			2s c1 fails
			2s c2 fails
			3s c3 calls
			4s c3 fails`,
			"in 2 of 3 failed attempts the clients split the votes, so none had a majority", "split=2 failed=3"},
		{"one attempt begins while the lock is held, another after that key expired", `
			0s A sets by=c0/1 value=v0
			0s B sets by=c0/1 value=v0
			0s C sets by=c0/1 value=v0
			1s c1 calls
			1s C expires of=c0/1 value=v0
			1s c2 calls
			1s D sets by=c1/1 value=v1
			1s E sets by=c2/1 value=v2
			2s c1 fails
			2s c2 fails`,
			"in 1 of 2 failed attempts the clients split the votes, so none had a majority", "split=1 failed=2"},
		{"only one client asks, while keys of a crashed client remain", `
			0s c1 calls
			1s A sets by=c1/1 value=v1
			1s B sets by=c1/1 value=v1
			1s c1 crashes
			2s c2 calls
			3s C sets by=c2/1 value=v2
			3s D sets by=c2/1 value=v2
			4s c2 fails`,
			"in 0 of 1 failed attempts the clients split the votes, so none had a majority", "split=0 failed=1"},
		{"the nodes are down, so that no client gets a node", `
			0s c1 calls
			0s c2 calls
			1s c1 fails
			1s c2 fails`,
			"in 0 of 2 failed attempts the clients split the votes, so none had a majority", "split=0 failed=2"},
		{"two clients ask for different locks", `
			lock M ttl=30s
			0s c1 calls
			0s c2 calls lock=M
			1s A sets by=c1/1 value=v1 key=L
			1s A sets by=c2/1 value=v2 key=M
			2s c1 fails
			2s c2 fails`,
			"in 0 of 2 failed attempts the clients split the votes, so none had a majority", "split=0 failed=2"},
		{"the votes on one lock are split, those on the other are not", `
			lock M ttl=30s` + split + `
			1s c3 calls lock=M
			2s c1 fails
			2s c2 fails
			2s c3 fails`,
			"in 2 of 3 failed attempts the clients split the votes, so none had a majority", "split=2 failed=3"},
		{"a lock on one node", `
			lock L ttl=30s nodes=A quorum=1
			0s c1 fails`,
			"n/a: the lock does not use a majority", ""},
	})
}

func TestLockCommands(t *testing.T) {
	measureAll(t, "lock-commands", []measurement{
		{"five commands for two grants, rounded to the nearest number", `
			0s c1 calls
			1s c1 commands A
			1s c1 commands B
			1s c1 commands C
			2s A answers c1
			3s c1 acquires rank=1
			4s c1 commands A
			4s c1 commands B
			5s c2 acquires rank=2`,
			"5, 3 per grant", "sent=5 per section granted=3"},
		{"handshakes, messages of nodes and requests to the storage do not count", `
			0s c1 calls
			0s B answers c1
			1s c1 commands A handshake
			1s c1 commands A
			2s A commands B
			3s c1 sends message=1
			9s c1 fails`,
			"1", "sent=1"},
		{"a lock without nodes", `
			lock L ttl=30s open
			0s c1 acquires rank=1`,
			"n/a: there are no nodes", ""},
	})
}

func TestSectionsDone(t *testing.T) {
	measureAll(t, "sections", []measurement{
		{"two completed sections in a run of 40s", `
			0s  c1 acquires rank=1
			1s  c1 writes x=0>1
			2s  c1 releases
			3s  c1 acquires rank=2
			4s  c1 is-refused
			5s  c1 releases
			6s  c2 acquires rank=3
			7s  c2 writes x=1>2
			8s  c2 releases
			9s  c2 acquires rank=4
			10s c2 writes x=2>3
			40s c2 is-cut-off`,
			"2, 3 per minute", "completed=2 per minute=3"},
		{"no section with a write", `
			6s c1 acquires rank=1
			6s c1 reads x=0
			6s c1 releases`,
			"0, 0 per minute", "completed=0 per minute=0"},
		{"a run that takes no time", `
			0s c1 acquires rank=1
			0s c1 writes x=0>1
			0s c1 releases`,
			"1", "completed=1"},
	})
}

func TestRefused(t *testing.T) {
	measureAll(t, "refused", []measurement{
		{"reads, writes and marks", `
			0s c1 acquires rank=1
			1s c1 marks x=0
			2s c1 reads x=0
			3s c1 reads x=0
			4s c1 is-refused-a-read
			5s c1 writes x=0>1
			6s c1 is-refused
			7s c1 is-refused
			8s c1 is-refused-a-mark`,
			"4 of 8 (1 of 3 reads, 2 of 3 writes)", "refused=4 requests=8 refused reads=1 reads=3 refused writes=2 writes=3"},
		{"no client asked for the lock", `
			0s c1 acquires rank=1`,
			"n/a: the storage answered no request", ""},
	})
}

func TestRefusedWork(t *testing.T) {
	measureAll(t, "refused-work", []measurement{
		{"a client is refused and acquires the lock again", `
			0s c1 acquires rank=1
			1s c2 acquires rank=2
			2s c2 writes x=0>1
			3s c1 is-refused
			4s c1 releases
			5s c1 acquires rank=3
			7s c1 writes x=1>2
			9s c1 releases`,
			"1 of 3 sections, 3s of 6s of work", "refused sections=1 sections=3 refused time=3000000000ns time=6000000000ns"},
		{"no write is refused", `
			0s c1 acquires rank=1
			1s c1 reads x=0
			2s c1 writes x=0>1
			8s c1 releases`,
			"0 of 1 sections, 0s of 2s of work", "refused sections=0 sections=1 refused time=0ns time=2000000000ns"},
		{"one of two writes is refused", `
			0s c1 acquires rank=1
			1s c1 writes x=0>1
			2s c1 is-refused
			3s c1 releases`,
			"0 of 1 sections, 0s of 2s of work", "refused sections=0 sections=1 refused time=0ns time=2000000000ns"},
		{"a write is applied, and then its copy is refused", `
			0s c1 acquires rank=1
			1s c1 sends message=1
			2s c1 lands message=1 x=0>1
			3s c1 hears-a-refusal
			4s c1 releases`,
			"0 of 1 sections, 0s of 3s of work", "refused sections=0 sections=1 refused time=0ns time=3000000000ns"},
		{"a read is refused", `
			0s c1 acquires rank=1
			1s c1 is-refused-a-read
			3s c1 releases`,
			"1 of 1 sections, 1s of 1s of work", "refused sections=1 sections=1 refused time=1000000000ns time=1000000000ns"},
		{"one client only reads, and another was never granted the lock", `
			0s c1 acquires rank=1
			1s c1 reads x=0
			2s c1 releases
			3s c2 calls
			4s c2 fails
			5s c2 is-refused`,
			"n/a: the storage decided on no section's writes", ""},
	})
}

// For an empty run every measure has its name, title and summary.
func TestMeasures(t *testing.T) {
	want := strings.Fields("time-to-acquire time-held wait-after-crash loss-noticed attempts fairness split-votes lock-commands notifications traffic renewals releases sections refused refused-work")
	if got := MeasureNames(); !slices.Equal(got, want) {
		t.Errorf("the measures are %v, want %v", got, want)
	}
	all := Measures(history.New(&trace.Trace{}))
	for i, m := range all {
		if m.Name != want[i] || m.Title == "" || strings.Contains(m.Title, "\n") {
			t.Errorf("measure %d is %q with the title %q, want %q with a title of one line", i, m.Name, m.Title, want[i])
		}
		if len(Headline(m.Name)) == 0 {
			t.Errorf("%s has no headline figure", m.Name)
		}
		if m.Summary.IsZero() {
			t.Errorf("%s has no summary for the figures %v", m.Name, m.Figures)
		}
	}
	if len(all) != len(want) {
		t.Errorf("there are %d measures, want %d", len(all), len(want))
	}
}

// The median of an even number of times is the mean of the middle two, rounded down.
func TestMedian(t *testing.T) {
	for _, test := range []struct {
		times []time.Duration
		want  time.Duration
	}{
		{[]time.Duration{7}, 7},
		{[]time.Duration{9, 1}, 5},
		{[]time.Duration{9, 1, 2}, 2},
		{[]time.Duration{4, 1, 1, 9}, 2}, // 2.5 is not a whole number
		{[]time.Duration{math.MaxInt64, math.MaxInt64 - 2}, math.MaxInt64 - 1},
	} {
		if got := median(test.times); got != test.want {
			t.Errorf("the median of %v is %d, want %d", test.times, got, test.want)
		}
	}
}
