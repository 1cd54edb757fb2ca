package edn

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/trace"
)

// shortHistory writes a history in short form: one operation on each line, with its
// process, type, f and value.
func shortHistory(history []fields) string {
	var b strings.Builder
	for _, op := range history {
		fields := map[keyword]any{}
		for _, f := range op {
			fields[f.key] = f.value
		}
		fmt.Fprintf(&b, "%v %v %v ", fields["process"], fields["type"], fields["f"])
		encode(&b, fields["value"])
		b.WriteString("\n")
	}
	return b.String()
}

// sameHistory fails the test unless the history has these operations, in short form.
func sameHistory(t *testing.T, name string, history []fields, want ...string) {
	t.Helper()
	if got := strings.TrimSpace(shortHistory(history)); got != strings.Join(want, "\n") {
		t.Errorf("%s:\n%s\nwant:\n%s", name, got, strings.Join(want, "\n"))
	}
}

// wants returns the event with which a client begins to acquire the lock x.
func wants(client string, section int) trace.Event {
	ev := simtest.Begin(client, section, trace.Acquire, 0)
	ev.Lock = "x"
	return ev
}

// gets returns the event with which a client is granted the lock.
func gets(client string, section int) trace.Event {
	return trace.Event{Kind: trace.KindEnd, Process: client, Section: section, Step: trace.Acquire, OK: true}
}

// goesWithout returns the event with which an attempt to acquire the lock fails.
func goesWithout(client string, section int) trace.Event {
	return trace.Event{Kind: trace.KindEnd, Process: client, Section: section, Step: trace.Acquire, Text: "lock not acquired"}
}

// keysSet returns the events with which nodes set the key x for a client.
func keysSet(client string, section int, nodes ...string) []trace.Event {
	var events []trace.Event
	for _, n := range nodes {
		events = append(events, trace.Event{Kind: trace.KindSet, Process: n, Key: "x", Owner: &trace.Actor{Client: client, Section: section}})
	}
	return events
}

func TestLockHistory(t *testing.T) {
	for _, test := range []struct {
		name   string
		events [][]trace.Event
		want   []string // client-1 is process 0, client-2 is 1
	}{
		{"a refused attempt has failed", [][]trace.Event{
			{wants("client-1", 1), goesWithout("client-1", 1), wants("client-1", 2), gets("client-1", 2)},
		}, []string{"0 invoke acquire nil", "0 fail acquire nil", "0 invoke acquire nil", "0 ok acquire nil"}},

		{"an attempt that only a minority granted has failed", [][]trace.Event{
			{wants("client-1", 1)}, keysSet("client-1", 1, "redis-1"), {goesWithout("client-1", 1)},
		}, []string{"0 invoke acquire nil", "0 fail acquire nil"}},

		{"an attempt that a quorum granted may hold the lock, whatever its client learned, and the client continues as another process", [][]trace.Event{
			{wants("client-1", 1)}, keysSet("client-1", 1, "redis-1", "redis-2"), {goesWithout("client-1", 1)},
			{wants("client-1", 2), gets("client-1", 2)},
		}, []string{"0 invoke acquire nil", "0 info acquire nil", "2 invoke acquire nil", "2 ok acquire nil"}},

		{"an attempt that a quorum granted after its client gave up may hold the lock", [][]trace.Event{
			{wants("client-1", 1), goesWithout("client-1", 1)}, keysSet("client-1", 1, "redis-1", "redis-2"),
		}, []string{"0 invoke acquire nil", "0 info acquire nil"}},

		{"a crash in a section may free the lock at some time", [][]trace.Event{
			{wants("client-1", 1), gets("client-1", 1), {Kind: trace.KindCrash, Process: "client-1"}, wants("client-2", 1), gets("client-2", 1)},
		}, []string{"0 invoke acquire nil", "0 ok acquire nil", "0 invoke release nil", "0 info release nil", "1 invoke acquire nil", "1 ok acquire nil"}},

		{"a crash in a call leaves it open for ever", [][]trace.Event{
			{wants("client-1", 1), {Kind: trace.KindCrash, Process: "client-1"}},
		}, []string{"0 invoke acquire nil", "0 info acquire nil"}},

		{"the end of the run leaves calls open for ever", [][]trace.Event{
			{wants("client-1", 1), wants("client-2", 1), {Kind: trace.KindHorizon}},
		}, []string{"0 invoke acquire nil", "1 invoke acquire nil", "0 info acquire nil", "1 info acquire nil"}},

		{"a release that failed may have freed the lock", [][]trace.Event{
			{wants("client-1", 1), gets("client-1", 1), simtest.Begin("client-1", 1, trace.Release, 0), {Kind: trace.KindEnd, Process: "client-1", Section: 1, Step: trace.Release}},
		}, []string{"0 invoke acquire nil", "0 ok acquire nil", "0 invoke release nil", "0 info release nil"}},
	} {
		s := simtest.NewScript("none", 3)
		for _, events := range test.events {
			s.Then(events...)
		}
		sameHistory(t, test.name, lockHistory(history.New(&s.Trace), "x"), test.want...)
	}
}

// write returns the event with which a client begins a write.
func write(client string, section int) trace.Event {
	return simtest.Begin(client, section, trace.Write, 0)
}

// applied returns the event with which the storage carries out a write of a client.
func applied(client string, section, version int) trace.Event {
	return trace.Event{Kind: trace.KindServe, Process: "storage", Peer: client, Section: section, Step: trace.Write, OK: true, Object: "x", Version: version, Replaced: version - 1}
}

// sentWith returns ev as the execution of the request that was sent with the event seq. The
// first event of a test is the seventh event of its trace.
func sentWith(seq int, ev trace.Event) trace.Event {
	ev.By = &trace.Actor{Client: ev.Peer, Section: ev.Section, Sent: seq}
	return ev
}

// ends returns the event with which a step of a client ends successfully.
func ends(client string, section int, step trace.Step, version int) trace.Event {
	return trace.Event{Kind: trace.KindEnd, Process: client, Section: section, Step: step, OK: true, Object: "x", Version: version}
}

func TestRegisterAndSections(t *testing.T) {
	unanswered := trace.Event{Kind: trace.KindEnd, Process: "client-1", Section: 1, Step: trace.Write, Object: "x", Text: "no answer within 1s"}
	refused := trace.Event{Kind: trace.KindEnd, Process: "client-1", Section: 1, Step: trace.Write, Object: "x", Refused: true}
	again := trace.Event{Kind: trace.KindAgain, Process: "client-1", Section: 1, Step: trace.Write, Object: "x"}
	lost := trace.Event{Kind: trace.KindRevert, Process: "storage", Object: "x", Version: 0, Replaced: 1}
	beginsRead := simtest.Begin("client-2", 1, trace.Read, 0)
	// sees returns the events of a read of a version by client-2.
	sees := func(version int) []trace.Event {
		return []trace.Event{beginsRead,
			{Kind: trace.KindServe, Process: "storage", Peer: "client-2", Section: 1, Step: trace.Read, OK: true, Object: "x", Version: version},
			ends("client-2", 1, trace.Read, version)}
	}
	for _, test := range []struct {
		name     string
		events   []trace.Event
		register []string // the history of the object x: client-1 is process 0, client-2 is 1, the storage is 2
		sections []string // the history of the sections, each as one transaction
	}{
		{"a read returns the write that made the version",
			slices.Concat([]trace.Event{gets("client-1", 1), gets("client-2", 1), write("client-1", 1), applied("client-1", 1, 1), ends("client-1", 1, trace.Write, 1)}, sees(1), sees(0)),
			[]string{"0 invoke write 1", "0 ok write 1", "1 invoke read nil", "1 ok read 1", "1 invoke read nil", "1 ok read nil"},
			[]string{`0 invoke txn [[:w "x" 1]]`, `1 invoke txn [[:r "x" nil] [:r "x" nil]]`, `0 ok txn [[:w "x" 1]]`, `1 ok txn [[:r "x" 1] [:r "x" nil]]`}},

		{"a write without an answer never ends, and its client continues as another process",
			[]trace.Event{gets("client-1", 1), write("client-1", 1), unanswered, write("client-1", 1), applied("client-1", 1, 1), ends("client-1", 1, trace.Write, 1)},
			[]string{"0 invoke write 1", "0 info write 1", "3 invoke write 2", "3 ok write 2"},
			[]string{`0 invoke txn [[:w "x" 1] [:w "x" 2]]`, `0 ok txn [[:w "x" 2]]`}},

		{"a refused write has failed, and a section whose only write is refused has failed",
			[]trace.Event{gets("client-1", 1), write("client-1", 1), refused},
			[]string{"0 invoke write 1", "0 fail write 1"},
			[]string{`0 invoke txn [[:w "x" 1]]`, `0 fail txn [[:w "x" 1]]`}},

		{"a write is sent twice, and the second copy is refused: the first may have been applied",
			[]trace.Event{gets("client-1", 1), write("client-1", 1), applied("client-1", 1, 1), again, refused},
			[]string{"0 invoke write 1", "0 info write 1"},
			[]string{`0 invoke txn [[:w "x" 1]]`, `0 ok txn [[:w "x" 1]]`}},

		{"a write that was lost before any client knew of it was never made",
			[]trace.Event{gets("client-1", 1), write("client-1", 1), applied("client-1", 1, 1), lost},
			[]string{"0 invoke write 1", "0 info write 1"},
			[]string{`0 invoke txn [[:w "x" 1]]`, `0 fail txn [[:w "x" 1]]`}},

		{"a write that was lost after it was acknowledged was made",
			[]trace.Event{gets("client-1", 1), write("client-1", 1), applied("client-1", 1, 1), ends("client-1", 1, trace.Write, 1), lost},
			[]string{"0 invoke write 1", "0 ok write 1"},
			[]string{`0 invoke txn [[:w "x" 1]]`, `0 ok txn [[:w "x" 1]]`}},

		{"a version is lost and given to another write: a read of it afterwards returns the later write",
			slices.Concat([]trace.Event{gets("client-1", 1), gets("client-2", 1), write("client-1", 1), applied("client-1", 1, 1), lost, write("client-1", 1), applied("client-1", 1, 1)}, sees(1)),
			[]string{"0 invoke write 1", "0 info write 1", "3 invoke write 2", "1 invoke read nil", "1 ok read 2", "3 info write 2"},
			[]string{`0 invoke txn [[:w "x" 1] [:w "x" 2]]`, `1 invoke txn [[:r "x" nil]]`, `0 ok txn [[:w "x" 2]]`, `1 ok txn [[:r "x" 2]]`}},

		{"a version is lost and given to another write: a read of it before returns the earlier write",
			slices.Concat([]trace.Event{gets("client-1", 1), gets("client-2", 1), write("client-1", 1), applied("client-1", 1, 1)}, sees(1)[:2],
				[]trace.Event{lost, write("client-1", 1), applied("client-1", 1, 1)}, sees(1)[2:]),
			[]string{"0 invoke write 1", "1 invoke read nil", "0 info write 1", "3 invoke write 2", "1 ok read 1", "3 info write 2"},
			[]string{`0 invoke txn [[:w "x" 1] [:w "x" 2]]`, `1 invoke txn [[:r "x" nil]]`, `0 ok txn [[:w "x" 1] [:w "x" 2]]`, `1 ok txn [[:r "x" 1]]`}},

		{"a copy of a write that arrives late is the write that was sent, not the next one",
			[]trace.Event{gets("client-1", 1), write("client-1", 1), unanswered, write("client-1", 1), sentWith(8, applied("client-1", 1, 1))},
			[]string{"0 invoke write 1", "0 info write 1", "3 invoke write 2", "3 info write 2"},
			[]string{`0 invoke txn [[:w "x" 1] [:w "x" 2]]`, `0 ok txn [[:w "x" 1]]`}},

		{"a write that is no step of a client is an operation of the storage",
			[]trace.Event{applied("client-1", 0, 1)},
			[]string{"2 invoke write 1", "2 ok write 1"},
			[]string{`0 invoke txn [[:w "x" 1]]`, `0 ok txn [[:w "x" 1]]`}},

		{"the version of the object at the end of the run is a last read",
			[]trace.Event{applied("client-1", 0, 1), {Kind: trace.KindObject, Process: "storage", Object: "x", Version: 1}},
			[]string{"2 invoke write 1", "2 ok write 1", "2 invoke read nil", "2 ok read 1"},
			[]string{`0 invoke txn [[:w "x" 1]]`, `0 ok txn [[:w "x" 1]]`, `1 invoke txn [[:r "x" nil]]`, `1 ok txn [[:r "x" 1]]`}},
	} {
		s := simtest.NewScript("none", 3)
		s.Then(test.events...)
		s.Then(trace.Event{Kind: trace.KindHorizon})
		requests := readRequests(history.New(&s.Trace))
		sameHistory(t, test.name+" (register)", registerHistory(requests, "x"), test.register...)
		sameHistory(t, test.name+" (sections)", sectionsHistory(requests), test.sections...)
	}
}

func TestEDN(t *testing.T) {
	for _, test := range []struct {
		value any
		want  string
	}{
		{nil, "nil"},
		{-3, "-3"},
		{uint64(1<<63 - 1), "9223372036854775807"},
		{uint64(1 << 63), "9223372036854775808N"},
		{keyword("acquire"), ":acquire"},
		{"x", `"x"`},
		{"say \"ah\" \\ :ok ; no comment", `"say \"ah\" \\ :ok ; no comment"`},
		{"a\nb\x1b[31m\u202e", `"a\\nb\\x1b[31m\\u202e"`},
		{[]any{keyword("r"), "x", nil}, `[:r "x" nil]`},
		{fields{{"f", keyword("read")}, {"value", []any{}}}, `{:f :read, :value []}`},
	} {
		var b strings.Builder
		if encode(&b, test.value); b.String() != test.want {
			t.Errorf("%#v is written %s, want %s", test.value, b.String(), test.want)
		}
	}
}

// Writing the histories of a world takes linear time, however many clients fail to acquire
// the lock or are in sections. The second figure of each pair should therefore be ten times
// the first, and not a hundred times.
func BenchmarkHistories(b *testing.B) {
	for _, sections := range []int{5_000, 50_000} {
		refused, served := simtest.NewScript("none", 1), simtest.NewScript("none", 1)
		for section := 1; section <= sections; section++ {
			refused.Then(wants("client-1", section), goesWithout("client-1", section))
			served.Then(wants("client-1", section), gets("client-1", section), write("client-1", section),
				ends("client-1", section, trace.Write, section), simtest.Begin("client-1", section, trace.Release, 0))
		}
		for _, world := range []struct {
			name string
			of   *simtest.Script
		}{{"refused", refused}, {"served", served}} {
			h := history.New(&world.of.Trace)
			b.Run(fmt.Sprintf("%s/%d", world.name, sections), func(b *testing.B) {
				for b.Loop() {
					Histories(h)
				}
			})
		}
	}
}
