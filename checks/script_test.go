package checks

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// A script is a trace written by hand, one event or step per line:
//
//	0s  c1 acquires rank=1 ends=30s
//	1s  c1 reads x=0
//	2s  c1 writes x=0>1
//	3s  c1 releases
//
// A line has a true time, a process, what it does, and words that say more. Clients are
// called c1, c2 ..., nodes A to E, and services s1, s2 .... A client's sections are
// numbered by its calls of acquire. Unless a line without a time says otherwise, the lock
// is called L, has a TTL of 30s and keeps the key L on five nodes, three of which are a
// quorum. The line that ends in "<--" is the line with which the property breaks.
//
// Words that are not explained where they are parsed: "rank" is the grant's position in the
// order in which a perfect lock service would have granted the lock; "ends" is the end of the
// lease that the lock declares; "by", "of" and "over" are the sections that change a key, that
// had set it, and whose key is overwritten, such as "c1/2" for the second section of c1.
// "earliest" is when a grant may have been made at the earliest, in a trace of real servers.
type script struct {
	trace *trace.Trace
	t     *testing.T
	line  string
	// breaks are the Seqs of the events of the marked line.
	breaks []int
	// section counts each client's calls of acquire. calling says that the last one is
	// pending.
	section map[string]int
	calling map[string]bool
	// sent is the Seq with which each client last sent each of its messages.
	sent map[string]int
}

// parseScript parses a script. It fails the test if it does not understand a line.
func parseScript(t *testing.T, text string) *script {
	t.Helper()
	s := &script{t: t, trace: &trace.Trace{}, section: map[string]int{}, calling: map[string]bool{}, sent: map[string]int{}}
	s.header("lock L ttl=30s")
	for s.line = range strings.Lines(text) {
		line, marked := strings.CutSuffix(strings.TrimSpace(s.line), "<--")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		at, err := time.ParseDuration(words[0])
		if err != nil {
			s.header(line)
			continue
		}
		before := len(s.trace.Events)
		s.addLine(at, words[1], words[2], parseArgs(words[3:]))
		if marked {
			for _, ev := range s.trace.Events[before:] {
				s.breaks = append(s.breaks, ev.Seq)
			}
		}
	}
	return s
}

// args are the words of a line by their names: the value of a word name=value, and "" for
// any other word.
type args map[string]string

// parseArgs parses the words of a line.
func parseArgs(words []string) args {
	a := args{}
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		a[name] = value
	}
	return a
}

func (a args) has(name string) bool { _, ok := a[name]; return ok }

func (s *script) duration(v string) time.Duration {
	if v == "" {
		return 0
	}
	d, err := time.ParseDuration(v)
	if err != nil {
		s.t.Fatalf("%s: %v", s.line, err)
	}
	return d
}

func (s *script) number(v string) int {
	if v == "" {
		return 0
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		s.t.Fatalf("%s: %v", s.line, err)
	}
	return n
}

// actor parses "c1/2", or, with the Seq of its command, "c1/2@7".
func (s *script) actor(v string) *trace.Actor {
	if v == "" {
		return nil
	}
	v, sent, _ := strings.Cut(v, "@")
	client, section, _ := strings.Cut(v, "/")
	return &trace.Actor{Client: client, Section: s.number(section), Sent: s.number(sent)}
}

// header parses a line without a time, which describes the world. A lock that is "open" is
// granted to every client that asks; for an "unwatched" lock the trace does not say where it
// keeps its keys; the tokens of an "unordered" lock can only be compared for equality.
func (s *script) header(line string) {
	words := strings.Fields(line)
	a := parseArgs(words[1:])
	switch words[0] {
	case "lock":
		if words[1] == "L" {
			s.trace.Locks = nil
		}
		l := trace.LockInfo{Name: words[1], TTL: s.duration(a["ttl"]), Quorum: 3, GrantsEveryone: a.has("open"), Unordered: a.has("unordered"), TrueTime: a.has("true-time")}
		if a.has("holders") {
			l.Holders = s.number(a["holders"])
		}
		if a.has("quorum") {
			l.Quorum = s.number(a["quorum"])
		}
		keys := strings.Split(firstNonEmpty(a["keys"], words[1]), ",")
		for _, node := range firstNonEmpty(a["nodes"], "ABCDE") {
			for _, key := range keys {
				l.Slots = append(l.Slots, trace.SlotInfo{Node: string(node), Key: key})
			}
		}
		if a.has("members") { // the lock is kept in a cluster with these members
			l.Slots, l.Quorum = []trace.SlotInfo{{Node: "cluster", Key: words[1]}}, 1
			for _, member := range a["members"] {
				l.Members = append(l.Members, string(member))
			}
			s.trace.Processes = append(s.trace.Processes, trace.ProcessInfo{Name: "cluster", Role: trace.RoleCluster})
			for _, member := range l.Members {
				s.addProcess(member)
			}
		}
		if a.has("unwatched") || l.GrantsEveryone {
			l.Slots = nil
		}
		s.trace.Locks = append(s.trace.Locks, l)
	case "read-only":
		s.trace.Processes = append(s.trace.Processes, trace.ProcessInfo{Name: words[1], Role: trace.RoleClient, ReadOnly: true})
	case "plans": // how many writes a client plans in each section
		s.trace.Processes = append(s.trace.Processes, trace.ProcessInfo{Name: words[1], Role: trace.RoleClient, Writes: s.number(a["writes"])})
	case "no-lock":
		s.trace.Locks = nil
	case "bytes": // the length of all messages to and from nodes
		s.trace.Bytes = int64(s.number(words[1]))
	case "schedule":
		s.trace.Schedule = &trace.Schedule{Every: s.duration(a["every"]), Periods: s.number(a["periods"]), Repeatable: a.has("repeatable")}
	case "within":
		s.trace.ProgressWithin = s.duration(words[1])
	case "doubt":
		s.trace.Doubts = append(s.trace.Doubts, strings.Join(words[1:], " "))
	case "idle":
		s.trace.Faults = append(s.trace.Faults, trace.FaultInfo{Text: "pause c1", IdleReason: strings.Join(words[1:], " ")})
	default:
		s.t.Fatalf("cannot read %q", line)
	}
}

func firstNonEmpty(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// emit adds an event to the trace.
func (s *script) emit(ev trace.Event) {
	ev.Seq = len(s.trace.Events) + 1
	s.trace.Events = append(s.trace.Events, ev)
}

// addLine adds the events of a line with a time. who is its process, verb says what the
// process does, and a are the remaining words.
func (s *script) addLine(at time.Duration, who, verb string, a args) {
	section := s.section[who]
	if a.has("section") {
		section = s.number(a["section"])
	}
	ev := trace.Event{At: at, Process: who, Section: section}
	begin := func(step trace.Step, object string) {
		ev := ev
		ev.Kind, ev.Step, ev.Object = trace.KindBegin, step, object
		if step == trace.Acquire {
			ev.Lock, ev.Period, ev.OuterSection = firstNonEmpty(a["lock"], "L"), s.number(a["period"]), s.number(a["within"])
		}
		s.emit(ev)
	}
	end := func(step trace.Step, fill func(*trace.Event)) {
		ev := ev
		ev.Kind, ev.Step, ev.OK = trace.KindEnd, step, true
		if fill != nil {
			fill(&ev)
		}
		s.emit(ev)
	}
	// serve adds the event with which the storage serves a request of the client. A service
	// may have passed the request on.
	serve := func(step trace.Step, object string, version, replaced int, ok bool) {
		by := &trace.Actor{Client: who, Section: section, Sent: s.sent[who+a["message"]]}
		s.emit(trace.Event{
			At: at, Kind: trace.KindServe, Process: firstNonEmpty(a["from"], trace.StorageName), Peer: firstNonEmpty(a["via"], who), By: by, Section: section, Step: step,
			OK: ok, Object: object, Version: version, Replaced: replaced, Value: a["value"],
		})
	}
	refuse := func(step trace.Step) {
		serve(step, firstNonEmpty(a["object"], "x"), 0, 0, false)
		end(step, func(ev *trace.Event) { ev.OK, ev.Refused = false, true })
	}
	// access parses the word "x=0" or "x=0>1" of a line.
	access := func() (object string, replaced, version int) {
		for name, value := range a {
			if !slices.Contains([]string{"value", "message", "section", "via", "from"}, name) {
				old, made, wrote := strings.Cut(value, ">")
				replaced, version = s.number(old), s.number(made)
				if !wrote {
					version = replaced
				}
				return name, replaced, version
			}
		}
		s.t.Fatalf("%s: no object, such as x=0", s.line)
		return "", 0, 0
	}
	declareEnd := func(ev *trace.Event) {
		if a.has("ends") {
			ev.LeaseEnd = &fakeclock.Reading{Clock: fakeclock.Wall, Nanos: int64(s.duration(a["ends"]))}
			if a.has("monotonic") {
				ev.LeaseEnd.Clock = fakeclock.Monotonic
			}
		}
	}
	key := func(kind trace.Kind) {
		ev := ev
		ev.Kind, ev.Key, ev.Value = kind, firstNonEmpty(a["key"], "L"), firstNonEmpty(a["value"], "value-1")
		ev.TTL = s.duration(a["ttl"])
		ev.By, ev.Owner, ev.Prior = s.actor(a["by"]), s.actor(a["of"]), s.actor(a["over"])
		if kind == trace.KindSet {
			ev.Owner = ev.By
		}
		s.emit(ev)
	}

	switch verb {
	// What a client does with its lock.
	case "calls":
		s.section[who]++
		ev.Section = s.section[who]
		s.calling[who] = true
		begin(trace.Acquire, "")
	case "fails", "acquires":
		if !s.calling[who] {
			s.section[who]++
			ev.Section = s.section[who]
			begin(trace.Acquire, "")
		}
		s.calling[who] = false
		end(trace.Acquire, func(ev *trace.Event) {
			ev.OK, ev.OuterSection = verb == "acquires", s.number(a["within"])
			if !ev.OK {
				return
			}
			ev.Lock = firstNonEmpty(a["lock"], "L")
			ev.Rank, ev.Token = uint64(s.number(a["rank"])), uint64(s.number(a["token"]))
			ev.Minted, ev.Notifies, ev.Ungranted = a.has("minted"), a.has("notifies"), a.has("ungranted")
			ev.Session = a["session"]
			if a.has("earliest") {
				ev.Earliest = s.duration(a["earliest"])
			}
			declareEnd(ev)
		})
	case "hears-that-it-lives": // the client learns that its session lasts until a true time
		ev.Kind, ev.Section, ev.Session, ev.Expires = trace.KindAlive, 0, a["session"], s.duration(a["until"])
		ev.TTL = s.duration(a["ttl"])
		s.emit(ev)
	case "starts-to-work":
		begin(trace.Work, "")
	case "extends":
		begin(trace.Extend, "")
		end(trace.Extend, declareEnd)
	case "asks-to-extend":
		begin(trace.Extend, "")
	case "fails-to-extend":
		end(trace.Extend, func(ev *trace.Event) { ev.OK = false })
	case "extended": // the end of an extension, without a call if the lock made it by itself
		end(trace.Extend, declareEnd)
	case "mints":
		begin(trace.Mint, "")
		end(trace.Mint, func(ev *trace.Event) { ev.Token, ev.Minted = uint64(s.number(a["token"])), true })
	case "fails-to-mint":
		begin(trace.Mint, "")
		end(trace.Mint, func(ev *trace.Event) { ev.OK = false })
	case "fails-its-check":
		begin(trace.Check, "")
		end(trace.Check, func(ev *trace.Event) { ev.OK = false })
	case "asks-to-release":
		begin(trace.Release, "")
	case "releases":
		begin(trace.Release, "")
		end(trace.Release, nil)
	case "released": // the end of a release that was called
		end(trace.Release, nil)
	case "fails-to-release":
		end(trace.Release, func(ev *trace.Event) { ev.OK = false })
	case "is-told-it-is-lost":
		ev.Kind = trace.KindLost
		s.emit(ev)
	case "is-done":
		ev.Kind, ev.Section = trace.KindDone, 0
		s.emit(ev)

	case "commands": // a message to a node
		ev.Kind, ev.Handshake, ev.Text = trace.KindSend, a.has("handshake"), a["text"]
		ev.Peer = strings.Fields(s.line)[3]
		s.emit(ev)
		s.addProcess(ev.Peer)
	case "answers":
		ev.Kind, ev.Reply = trace.KindSend, true
		ev.Peer = strings.Fields(s.line)[3]
		s.emit(ev)
		s.addProcess(ev.Peer)
		if a.has("arrives") { // the answer arrives immediately
			ev.Kind, ev.Process, ev.Peer = trace.KindDeliver, ev.Peer, who
			s.emit(ev)
		}
	case "keeps-alive": // a message to a member that keeps the client's session alive
		s.emit(trace.Event{
			At: at, Kind: trace.KindSend, Process: who, Peer: strings.Fields(s.line)[3], Conn: 1, Msg: s.number(a["message"]),
			KeepAlive: true, Bytes: s.number(a["bytes"]),
		})
	case "acknowledges": // the answer to a keeps-alive; it arrives unless it is in-vain
		client := strings.Fields(s.line)[3]
		answer := trace.Event{At: at, Kind: trace.KindSend, Process: who, Peer: client, Conn: 1, Msg: s.number(a["message"]), Reply: true, KeepAlive: true, Bytes: s.number(a["bytes"])}
		s.emit(answer)
		if answer.Kind, answer.Process, answer.Peer = trace.KindDeliver, client, who; !a.has("in-vain") {
			s.emit(answer)
		}
	case "is-notified":
		ev.Kind, ev.Section = trace.KindNotify, 0
		s.emit(ev)

	// What happens between a client and the storage. x=0 is version 0 of object x, and x=0>1
	// a write that replaces version 0 by version 1.
	case "reads":
		object, version, _ := access()
		begin(trace.Read, object)
		serve(trace.Read, object, version, 0, true)
		end(trace.Read, func(ev *trace.Event) { ev.Object, ev.Version = object, version })
	case "is-shown": // the storage serves a read, and the answer stays in flight
		object, version, _ := access()
		begin(trace.Read, object)
		serve(trace.Read, object, version, 0, true)
	case "marks":
		object, version, _ := access()
		begin(trace.Mark, object)
		serve(trace.Mark, object, version, 0, true)
		end(trace.Mark, func(ev *trace.Event) { ev.Object, ev.Version = object, version })
	case "learns": // the answer to a read arrives
		object, version, _ := access()
		end(trace.Read, func(ev *trace.Event) { ev.Object, ev.Version = object, version })
	case "writes":
		object, replaced, version := access()
		begin(trace.Write, object)
		serve(trace.Write, object, version, replaced, true)
		end(trace.Write, func(ev *trace.Event) { ev.Object, ev.Version, ev.Replaced = object, version, replaced })
	case "sends", "resends": // a message of a write; resends sends one more of a write that has begun
		if verb == "sends" {
			begin(trace.Write, "")
		}
		s.emit(trace.Event{
			At: at, Kind: trace.KindSend, Process: who, Peer: firstNonEmpty(a["via"], trace.StorageName), Conn: 1, Msg: s.number(a["message"]),
			Section: section, Step: trace.Write,
		})
		s.sent[who+a["message"]] = len(s.trace.Events)
	case "lands": // the storage serves a message that was sent before
		object, replaced, version := access()
		serve(trace.Write, object, version, replaced, true)
	case "hears": // the answer to a write arrives
		object, _, version := access()
		end(trace.Write, func(ev *trace.Event) { ev.Object, ev.Version = object, version })
	case "is-refused":
		begin(trace.Write, firstNonEmpty(a["object"], "x"))
		refuse(trace.Write)
	case "hears-a-refusal": // the end of a write that has begun
		refuse(trace.Write)
	case "fails-to-read": // the storage does not answer
		begin(trace.Read, firstNonEmpty(a["object"], "x"))
		end(trace.Read, func(ev *trace.Event) { ev.OK = false })
	case "is-refused-a-read":
		begin(trace.Read, firstNonEmpty(a["object"], "x"))
		refuse(trace.Read)
	case "is-refused-a-mark":
		begin(trace.Mark, firstNonEmpty(a["object"], "x"))
		refuse(trace.Mark)
	case "reverts": // the storage comes back without its latest writes
		object, replaced, version := access()
		s.emit(trace.Event{At: at, Kind: trace.KindRevert, Process: who, Object: object, Version: version, Replaced: replaced, Value: a["value"]})
	case "holds": // what the storage has at the end of the run
		object, version, _ := access()
		s.emit(trace.Event{At: at, Kind: trace.KindObject, Process: who, Object: object, Version: version, Value: a["value"]})

	// What happens to the keys of a node.
	case "sets":
		key(trace.KindSet)
	case "touches":
		key(trace.KindTouch)
	case "deletes":
		key(trace.KindDelete)
	case "expires":
		key(trace.KindExpire)
	case "forgets": // the node loses a key, such as in a crash
		key(trace.KindForget)
	case "drops":
		key(trace.KindDrop)
	case "restores": // the node has a key again, or a replica receives it
		key(trace.KindRestore)
	case "replaces": // a replica is promoted in place of a node
		for peer := range a {
			s.emit(trace.Event{At: at, Kind: trace.KindPromote, Process: who, Peer: peer})
		}

	// What the schedule does.
	case "begins":
		s.emit(trace.Event{At: at, Kind: trace.KindPeriod, Period: s.number(a["period"])})

	// What happens to processes, and what faults do.
	case "crashes":
		s.emit(trace.Event{At: at, Kind: trace.KindCrash, Process: who, Text: a["how"]})
	case "restarts":
		s.emit(trace.Event{At: at, Kind: trace.KindRestart, Process: who})
	case "pauses":
		s.emit(trace.Event{At: at, Kind: trace.KindPause, Process: who})
	case "resumes":
		s.emit(trace.Event{At: at, Kind: trace.KindResume, Process: who})
	case "runs-on": // the process does something although it is paused
		s.emit(trace.Event{At: at, Kind: trace.KindRanOn, Process: who})
	case "shows": // the readings of a process's clocks from now on
		s.emit(trace.Event{At: at, Kind: trace.KindClock, Process: who, Clocks: &trace.Clocks{
			Wall: int64(s.duration(a["wall"])), Monotonic: int64(s.duration(a["monotonic"])),
			RatePPB: int64(s.number(a["ppb"])), Halted: a.has("halted"), Why: trace.ClockChange(a["why"]),
		}})
	case "strikes":
		fault := s.number(strings.TrimPrefix(who, "fault-"))
		s.emit(trace.Event{At: at, Kind: trace.KindStrike, Fault: fault, Instant: a.has("instant"), HasEnd: a.has("lasting")})
		for len(s.trace.Faults) < fault {
			s.trace.Faults = append(s.trace.Faults, trace.FaultInfo{})
		}
		s.describeFault(&s.trace.Faults[fault-1], a)
	case "lifts":
		s.emit(trace.Event{At: at, Kind: trace.KindLift, Fault: s.number(strings.TrimPrefix(who, "fault-"))})
	case "is-cut-off":
		s.emit(trace.Event{At: at, Kind: trace.KindHorizon})
	default:
		s.t.Fatalf("cannot read %q", s.line)
	}
	s.addProcess(who)
}

// describeFault fills in a fault from words such as "stops=A" or "cuts=c1 from=A,storage".
func (s *script) describeFault(f *trace.FaultInfo, a args) {
	for verb, effect := range map[string]trace.Effect{
		"stops": trace.StopsProcess, "kills": trace.KillsProcess, "fails": trace.AnswersErrors, "drifts": trace.DriftsClock,
		"stalls": trace.StallsRequest, "cuts": trace.CutsLink, "slows": trace.SlowsLink, "holds": trace.HoldsMessage,
	} {
		if !a.has(verb) {
			continue
		}
		f.Effect, f.Targets = effect, [][]string{{a[verb]}}
		if a.has("from") {
			f.Targets = append(f.Targets, strings.Split(a["from"], ","))
		}
		for _, name := range slices.Concat(f.Targets...) {
			s.addProcess(name)
		}
		switch effect {
		case trace.StopsProcess, trace.KillsProcess:
			f.Stops = a[verb]
		case trace.HoldsMessage:
			f.Message.Client, f.Message.Peer = a[verb], a["from"]
		}
	}
}

// violations returns the properties that a script violates, in the order of [Properties].
func violations(t *testing.T, text string) []Property {
	t.Helper()
	var broken []Property
	for _, f := range Check(history.New(parseScript(t, text).trace), nil).Findings {
		if f.Outcome == Violated {
			broken = append(broken, f.Property)
		}
	}
	return broken
}

// addProcess adds a process to the trace the first time that it does something.
func (s *script) addProcess(name string) {
	role := trace.RoleNode
	switch {
	case strings.HasPrefix(name, "c"):
		role = trace.RoleClient
	case len(name) != 1:
		return
	}
	if !slices.ContainsFunc(s.trace.Processes, func(p trace.ProcessInfo) bool { return p.Name == name }) {
		s.trace.Processes = append(s.trace.Processes, trace.ProcessInfo{Name: name, Role: role})
	}
}

// A judgement is what a test expects of one property for one script.
type judgement struct {
	name   string
	script string
	want   Outcome
	// blame and reasonParts are checked only if given. reasonParts are parts of the
	// reason's sentence.
	blame       Blame
	reasonParts []string
}

// judgeAll judges each script by one property.
func judgeAll(t *testing.T, p Property, tests []judgement) {
	t.Helper()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := parseScript(t, test.script)
			f := Check(history.New(s.trace), nil).Finding(p)
			if f.Outcome != test.want {
				t.Fatalf("%s is %s (%s), want %s", p, f.Outcome, f.Reason, test.want)
			}
			for _, part := range test.reasonParts {
				if !strings.Contains(sentence(f.Reason), part) {
					t.Errorf("the reason %q does not say %q", f.Reason, part)
				}
			}
			if !test.blame.IsZero() && f.Blame != test.blame {
				t.Errorf("the blame is %q, want %q", f.Blame, test.blame)
			}
			switch f.Outcome {
			case Violated:
				if !slices.Contains(s.breaks, f.At) {
					t.Errorf("%s broke at event %d, want one of the events %v of the marked line", p, f.At, s.breaks)
				}
				if !slices.Contains(f.Events, f.At) || !slices.IsSorted(f.Events) || len(f.Events) > 3 || f.Reason.IsZero() {
					t.Errorf("the finding needs a reason and one to three sorted events, among them the event %d at which it broke: %+v", f.At, f)
				}
			case Unknown, NotApplicable:
				if f.Reason.IsZero() {
					t.Errorf("%s is %s without a reason", p, f.Outcome)
				}
			case Holds:
				if len(s.breaks) > 0 {
					t.Errorf("%s holds, but the script marks a line with <--", p)
				}
			}
		})
	}
}
