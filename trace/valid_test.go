package trace

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/fakeclock"
)

// tinyTrace returns a small valid trace.
func tinyTrace() *Trace {
	return &Trace{
		Name: "tiny", Fencing: "none",
		Locks:     []LockInfo{{Name: "L", Kind: "single", TTL: time.Second, Quorum: 1, Slots: []SlotInfo{{Node: "redis-1", Key: "L"}}}},
		Processes: []ProcessInfo{{Name: "c1", Role: RoleClient}, {Name: "redis-1", Role: RoleNode}, {Name: "storage", Role: RoleStorage}},
		Faults:    []FaultInfo{{Text: "pause c1", Stops: "c1", Targets: [][]string{{"c1"}, {"redis-1", "storage"}}}},
		Events: []Event{
			{Seq: 1, Kind: KindClock, Process: "c1", Clocks: &Clocks{}},
			{Seq: 2, Kind: KindSend, Process: "c1", Peer: "redis-1", Conn: 1, Msg: 1},
			{Seq: 3, At: 1, Kind: KindSet, Process: "redis-1", Key: "L", By: &Actor{Client: "c1", Section: 1, Sent: 2}},
			{Seq: 4, At: 2, Kind: KindEnd, Process: "c1", Section: 1, Step: Acquire, OK: true, LeaseEnd: &fakeclock.Reading{Clock: fakeclock.Wall}},
			{Seq: 5, At: 3, Kind: KindStrike, Fault: 1},
		},
	}
}

// Validate finds everything that the checks and reports need and that a trace lacks. Its
// error says where in the trace.
func TestValidateTrace(t *testing.T) {
	for _, test := range []struct {
		name, problem string // problem is how the error begins; "" for a valid trace
		change        func(*Trace)
	}{
		{"a valid trace", "", func(*Trace) {}},
		{"no processes", "there are no processes", func(t *Trace) { t.Processes = nil }},
		{"a process without a name", "processes[1] has no name", func(t *Trace) { t.Processes[1].Name = "" }},
		{"two processes of one name", `processes[1]: two processes are called "c1"`, func(t *Trace) { t.Processes[1].Name = "c1" }},
		{"an unknown role", `processes[2]: the role "cook" is not known`, func(t *Trace) { t.Processes[2].Role = "cook" }},
		{"two locks of one name", `locks[1]: two locks are called "L"`, func(t *Trace) { t.Locks = append(t.Locks, t.Locks[0]) }},
		{"a TTL below 0", "locks[0]: ttl is -1", func(t *Trace) { t.Locks[0].TTL = -1 }},
		{"a quorum larger than the number of slots", "locks[0]: quorum is 2, but the lock has 1 slots", func(t *Trace) { t.Locks[0].Quorum = 2 }},
		{"a slot on an unknown node", `locks[0].slots[0]: there is no process "redis-9"`, func(t *Trace) { t.Locks[0].Slots[0].Node = "redis-9" }},
		{"a fault that stops an unknown process", `faults[0].stops: there is no process "c9"`, func(t *Trace) { t.Faults[0].Stops = "c9" }},
		{"a fault with an unknown target", `faults[0].targets[1]: there is no process "c9"`, func(t *Trace) { t.Faults[0].Targets[1][1] = "c9" }},
		{"a complaint of an unknown client", `complaints[0]: there is no process "c9"`, func(t *Trace) { t.Complaints = []Complaint{{Client: "c9"}} }},
		{"a time limit for progress that is too large", "progress_within is", func(t *Trace) { t.ProgressWithin = 1 << 62 }},
		{"no events", "there are no events", func(t *Trace) { t.Events = nil }},
		{"an event is missing", "events[1]: seq is 3, but this is event 2", func(t *Trace) { t.Events = append(t.Events[:1:1], t.Events[2:]...) }},
		{"time goes back", "events[4]: at is 1, before the previous event's 2", func(t *Trace) { t.Events[4].At = 1 }},
		{"a time before the start", "events[0]: at is -1", func(t *Trace) { t.Events[0].At = -1 }},
		{"the largest time", "events[4]: at is 9223372036854775807", func(t *Trace) { t.Events[4].At = 1<<63 - 1 }},
		{"an unknown kind", `events[1]: the kind "sing" is not known: a later version may have written it`, func(t *Trace) { t.Events[1].Kind = "sing" }},
		{"an unknown step", `events[3]: the step "sing" is not known`, func(t *Trace) { t.Events[3].Step = "sing" }},
		{"an unknown process", `events[1]: there is no process "c9"`, func(t *Trace) { t.Events[1].Process = "c9" }},
		{"an unknown peer", `events[1]: there is no process "c9"`, func(t *Trace) { t.Events[1].Peer = "c9" }},
		{"an unknown actor", `events[2]: there is no process "c9"`, func(t *Trace) { t.Events[2].By.Client = "c9" }},
		{"an operator who deletes a key", "", func(t *Trace) {
			t.Events[2] = Event{Seq: 3, At: 1, Kind: KindDelete, Process: "redis-1", Key: "L", By: Operator()}
		}},
		{"an operator who acquires", `events[2]: there is no process "operator"`, func(t *Trace) { t.Events[2].By = Operator() }},
		{"an operator who owns a key", `events[2]: there is no process "operator"`, func(t *Trace) {
			t.Events[2] = Event{Seq: 3, At: 1, Kind: KindDelete, Process: "redis-1", Key: "L", By: Operator(), Owner: Operator()}
		}},
		{"a fault that the trace does not list", "events[4]: fault is 2, but the trace has 1 faults", func(t *Trace) { t.Events[4].Fault = 2 }},
		{"a strike without a fault", `events[4]: an event of kind "strike" must have the field fault, and this one lacks it`, func(t *Trace) { t.Events[4].Fault = 0 }},
		{"a set key without a node", `events[2]: an event of kind "set" must have the field process, and this one lacks it`, func(t *Trace) { t.Events[2].Process = "" }},
		{"an empty key", "", func(t *Trace) { t.Events[2].Key = "" }}, // Redis allows an empty key
		{"an unknown cause of a clock's change", `events[0]: "leap second" is not known as the cause of a clock's change`, func(t *Trace) { t.Events[0].Clocks.Why = "leap second" }},
		{"an unknown assumption", `faults[0]: the assumption "gravity" is not known`, func(t *Trace) { t.Faults[0].Assumption = "gravity" }},
		{"a message with a token", `events[1]: an event of kind "send" has no field token, but this one does: a later version may have written it`, func(t *Trace) { t.Events[1].Token = 1 }},
		{"an unknown manner of a crash", `events[1]: "boom" is not a text of an event of kind "crash": a later version may have written it`, func(t *Trace) {
			t.Events[1] = Event{Seq: 2, Kind: KindCrash, Process: "c1", Text: "boom"}
		}},
		{"a section below 0", "events[3]: conn, msg, bytes, section, version, replaced, period and within must not be below 0", func(t *Trace) { t.Events[3].Section = -1 }},
		{"a key's TTL below 0", "events[2]: ttl or expires is out of range", func(t *Trace) { t.Events[2].TTL = -1 }},
		{"a clock event without readings", `events[0]: an event of kind "clock" must have the field clocks, and this one lacks it`, func(t *Trace) { t.Events[0].Clocks = nil }},
		{"a clock that runs too fast", "events[0]: a clock is 50000000000 parts per billion too fast", func(t *Trace) { t.Events[0].Clocks.RatePPB = 5e10 }},
		{"the largest reading of a clock", "events[0]: a clock shows 9223372036854775807", func(t *Trace) { t.Events[0].Clocks.Wall = 1<<63 - 1 }},
		{"the smallest reading as the end of a lease", "events[3]: a clock shows -9223372036854775808", func(t *Trace) { t.Events[3].LeaseEnd.Nanos = -1 << 63 }},
		{"an unknown clock for the end of a lease", `events[3]: the clock "sun" is not known`, func(t *Trace) { t.Events[3].LeaseEnd.Clock = "sun" }},
		{"a command that was sent after its effect", "events[2]: the command of c1 was sent with event 3, which is not before this event", func(t *Trace) { t.Events[2].By.Sent = 3 }},
		{"a section within itself", "events[3]: section 1 is within section 1, which did not begin before it", func(t *Trace) { t.Events[3].OuterSection = 1 }},
		{"an actor's section below 0", "events[2]: section -1 of c1 does not exist", func(t *Trace) { t.Events[2].By.Section = -1 }},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr := tinyTrace()
			test.change(tr)
			err := tr.Validate()
			switch {
			case test.problem == "" && err != nil:
				t.Error(err)
			case test.problem != "" && (err == nil || !strings.HasPrefix(err.Error(), test.problem)):
				t.Errorf("the error is %v, want one that begins with %q", err, test.problem)
			}
		})
	}
}

// Writing a trace as JSON and reading it again does not change its hash, even if a server's
// answer was not valid UTF-8.
func TestHashIsTheSameAfterJSON(t *testing.T) {
	tr := tinyTrace()
	for i, text := range []string{"plain", "\xff is no text", "\ufffd stands for what is none", `so does \ufffd`, "<markup>\u2028"} {
		tr.Events[i].Text = text
	}
	data, err := json.Marshal(tr)
	if err != nil {
		t.Fatal(err)
	}
	var again Trace
	if err := json.Unmarshal(data, &again); err != nil {
		t.Fatal(err)
	}
	if again.Hash() != tr.Hash() {
		t.Error("the hash of a trace that was written as JSON and parsed is another")
	}
	tr.Events[0].Text = "other"
	if again.Hash() == tr.Hash() {
		t.Error("the hash of a trace with another event is the same")
	}
}
