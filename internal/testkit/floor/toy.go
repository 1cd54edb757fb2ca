package floor

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A toy is about as small as a server for locks can be. It keeps words under keys, only in
// its memory, and its messages are lines of words:
//
//	take KEY WORD TIME   keeps the word, unless there is one; "yes" or "no"
//	keep KEY WORD TIME   keeps it from now on, if it is there; "yes" or "no"
//	drop KEY WORD        forgets it, if it is there; "yes" or "no"
//	set KEY WORD TIME    keeps the word, whatever was there; "yes"
//	incr KEY             counts; the number
//	get KEY              the word, or "nothing"
//	ping                 "pong"
//	wait KEY             the word that is the next to be kept
//	quit                 closes the connection
//
// A time is in milliseconds of the toy's wall clock; without a time the word is kept for
// good. A drop without a word forgets any word.
type toy struct {
	host  *sim.Host
	kept  map[string]word
	looks int // counts the calls of expireWords; only the latest call schedules the next
	waits []waiter
}

// A waiter is a request that is answered later.
type waiter struct {
	caller
	request *sim.Request
	key     string
}

// A word is what is kept under one key, until when by the toy's wall clock, and who set it.
type word struct {
	text  string
	until time.Time
	owner *trace.Actor
}

func init() {
	sim.RegisterSystem(sim.System{
		Name: "toy", Title: "a toy", Node: "toy", Port: 7000,
		Failure: "broken",
		Revokes: true,
		Blind:   func() string { return blind },
		Framer:  func(names *sim.Names) sim.Framer { return lines{names} },
		Boot:    func(host *sim.Host) sim.Server { return &toy{host: host, kept: map[string]word{}} },
	})
}

// blind is the reason why the clients of toys do not look at idle connections, or "".
var blind string

// BlindToys makes the clients of toys not look at idle connections, for one test.
func BlindToys(t *testing.T) {
	blind = "the clients of toys look at nothing"
	t.Cleanup(func() { blind = "" })
}

// A lineFramer cuts what a client writes into messages: each line is a message.
type lines struct{ names *sim.Names }

func (l lines) Next(b []byte) (int, sim.Frame) {
	line, _, whole := bytes.Cut(b, []byte("\n"))
	if !whole {
		return 0, sim.Frame{}
	}
	words := strings.Fields(string(line))
	told := make([]string, len(words))
	for i, w := range words {
		told[i] = l.names.Value(w)
	}
	return len(line) + 1, sim.Frame{Body: words, Text: strings.Join(told, " "), Handshake: slices.Equal(words, []string{"ping"})}
}

// A caller is the toy's end of a connection.
type caller struct {
	toy *toy
	end *sim.End
}

// Accept implements [sim.Server].
func (y *toy) Accept(end *sim.End) sim.Endpoint { return caller{y, end} }

// Receive implements [sim.Endpoint]: it carries out the request, lets the world react to
// that, and answers if the node is still up.
func (c caller) Receive(r *sim.Request) {
	host := c.toy.host
	words := append(r.Body.([]string), "", "", "", "")
	answer := host.Failure()
	if answer == "" || r.Handshake() {
		answer = c.toy.serve(words[0], words[1], words[2], words[3], r.By())
	}
	switch up := host.Act(); {
	case !up:
	case answer != "":
		c.answer(r, answer)
	case words[0] == "wait":
		c.toy.waits = append(c.toy.waits, waiter{c, r, words[1]})
	case words[0] == "quit":
		c.end.Close()
	}
}

func (c caller) answer(r *sim.Request, answer string) {
	c.end.Answer(r, sim.Packet{Bytes: []byte(answer + "\n"), Text: c.toy.host.Names().Value(answer)})
}

// HangUp implements [sim.Endpoint].
func (c caller) HangUp(bool) {
	c.toy.waits = slices.DeleteFunc(c.toy.waits, func(w waiter) bool { return w.caller == c })
}

// serve carries out a line and returns the answer; "" is no answer for now.
func (y *toy) serve(verb, key, text, ms string, by *trace.Actor) string {
	is, there := y.kept[key]
	mine := there && (text == "" || text == is.text)
	switch {
	case verb == "ping":
		return "pong"
	case verb == "get":
		return cmp.Or(is.text, "nothing")
	case verb == "wait", verb == "quit":
		return ""
	case verb == "incr":
		n, _ := strconv.Atoi(is.text)
		text = strconv.Itoa(n + 1)
		y.keep(key, text, "", by)
		return text
	case verb == "set", verb == "take" && !there, verb == "keep" && mine:
		y.keep(key, text, ms, by)
		return "yes"
	case verb == "drop" && mine:
		y.gone(trace.KindDelete, key, by)
		return "yes"
	case verb == "take", verb == "keep", verb == "drop":
		return "no"
	}
	return "what?"
}

// keep keeps a word and records its owner: the client that set it, even if another client
// prolongs it.
func (y *toy) keep(key, text, milliseconds string, by *trace.Actor) {
	w := word{text: text, owner: by}
	ev := trace.Event{Kind: trace.KindSet, Key: key, Value: y.host.Names().Value(text), By: by}
	switch was, there := y.kept[key]; {
	case there && was.text == text:
		ev.Kind, w.owner = trace.KindTouch, was.owner
	case there:
		ev.Prior = was.owner
	}
	ev.Owner = w.owner
	if ms, _ := strconv.Atoi(milliseconds); ms > 0 {
		ev.TTL = time.Duration(ms) * time.Millisecond
		w.until = y.host.Clock().Now().Add(ev.TTL)
		ev.Expires, _ = y.host.When(w.until)
	}
	y.kept[key] = w
	y.host.Keeps(len(text))
	y.host.Emit(ev)
	y.look()
	y.waits = slices.DeleteFunc(y.waits, func(w waiter) bool {
		if w.key == key {
			w.answer(w.request, text)
		}
		return w.key == key
	})
}

// forget forgets a word.
func (y *toy) gone(how trace.Kind, key string, by *trace.Actor) {
	was := y.kept[key]
	delete(y.kept, key)
	y.host.Emit(trace.Event{Kind: how, Key: key, Value: y.host.Names().Value(was.text), By: by, Owner: was.owner})
}

// Revoke implements [sim.Revocable]: it forgets the client's words.
func (y *toy) Revoke(client string, _ bool) (found bool) {
	for _, key := range slices.Sorted(maps.Keys(y.kept)) {
		if is := y.kept[key]; is.owner != nil && is.owner.Client == client && slices.Contains(y.host.Keys(), key) {
			y.gone(trace.KindDelete, key, trace.Operator())
			found = true
		}
	}
	return found
}

// expireWords forgets the words whose time has passed, and schedules itself for the next
// one.
func (y *toy) look() {
	y.looks++
	look := y.looks
	for _, key := range slices.Sorted(maps.Keys(y.kept)) {
		until := y.kept[key].until
		if until.IsZero() {
			continue
		}
		if !until.After(y.host.Clock().Now()) {
			y.gone(trace.KindExpire, key, nil)
		} else if at, ok := y.host.When(until); ok {
			y.host.At(at, func() {
				if look == y.looks && y.host.Up() {
					y.look()
				}
			})
		}
	}
}

// ClockChanged implements [sim.Server].
func (y *toy) ClockChanged() {
	if y.host.Up() {
		y.look()
	}
}

// Crash does nothing: there is no disk, and the waiting clients have hung up.
func (y *toy) Crash(trace.Crash) {}

// Restart shows the effect of a crash: no word is left.
func (y *toy) Restart() {
	y.look()
	for _, key := range slices.Sorted(maps.Keys(y.kept)) {
		y.gone(trace.KindForget, key, nil)
	}
}

// Stop does nothing: there are no goroutines.
func (y *toy) Stop() {}
