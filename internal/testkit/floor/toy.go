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
	host         *sim.Host
	words        map[string]word
	expiryChecks int // counts the calls of expireWords; only the latest call schedules the next
	waits        []waiter
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
		Failure:      "broken",
		Revokes:      true,
		IdleCheckGap: func() string { return blind },
		Framer:       func(names *sim.Names) sim.Framer { return lineFramer{names} },
		Boot:         func(host *sim.Host) sim.Server { return &toy{host: host, words: map[string]word{}} },
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
type lineFramer struct{ names *sim.Names }

func (l lineFramer) Next(b []byte) (int, sim.Frame) {
	line, _, isComplete := bytes.Cut(b, []byte("\n"))
	if !isComplete {
		return 0, sim.Frame{}
	}
	words := strings.Fields(string(line))
	shown := make([]string, len(words))
	for i, w := range words {
		shown[i] = l.names.Value(w)
	}
	return len(line) + 1, sim.Frame{Body: words, Text: strings.Join(shown, " "), Handshake: slices.Equal(words, []string{"ping"})}
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
	if answer == "" || r.IsHandshake() {
		answer = c.toy.serve(words[0], words[1], words[2], words[3], r.Sender())
	}
	switch isUp := host.Act(); {
	case !isUp:
	case answer != "":
		c.answer(r, answer)
	case words[0] == "wait":
		c.toy.waits = append(c.toy.waits, waiter{c, r, words[1]})
	case words[0] == "quit":
		c.end.Close()
	}
}

func (c caller) answer(r *sim.Request, answer string) {
	c.end.ReplyTo(r, sim.Packet{Bytes: []byte(answer + "\n"), Text: c.toy.host.Names().Value(answer)})
}

// HangUp implements [sim.Endpoint].
func (c caller) HangUp(bool) {
	c.toy.waits = slices.DeleteFunc(c.toy.waits, func(w waiter) bool { return w.caller == c })
}

// serve carries out a line and returns the answer; "" is no answer for now.
func (y *toy) serve(verb, key, text, ms string, by *trace.Actor) string {
	current, exists := y.words[key]
	matches := exists && (text == "" || text == current.text)
	switch {
	case verb == "ping":
		return "pong"
	case verb == "get":
		return cmp.Or(current.text, "nothing")
	case verb == "wait", verb == "quit":
		return ""
	case verb == "incr":
		n, _ := strconv.Atoi(current.text)
		text = strconv.Itoa(n + 1)
		y.keep(key, text, "", by)
		return text
	case verb == "set", verb == "take" && !exists, verb == "keep" && matches:
		y.keep(key, text, ms, by)
		return "yes"
	case verb == "drop" && matches:
		y.forget(trace.KindDelete, key, by)
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
	switch was, exists := y.words[key]; {
	case exists && was.text == text:
		ev.Kind, w.owner = trace.KindTouch, was.owner
	case exists:
		ev.Prior = was.owner
	}
	ev.Owner = w.owner
	if ms, _ := strconv.Atoi(milliseconds); ms > 0 {
		ev.TTL = time.Duration(ms) * time.Millisecond
		w.until = y.host.Clock().Now().Add(ev.TTL)
		ev.Expires, _ = y.host.When(w.until)
	}
	y.words[key] = w
	y.host.ChargeText(len(text))
	y.host.Emit(ev)
	y.check()
	y.waits = slices.DeleteFunc(y.waits, func(w waiter) bool {
		if w.key == key {
			w.answer(w.request, text)
		}
		return w.key == key
	})
}

// forget forgets a word.
func (y *toy) forget(how trace.Kind, key string, by *trace.Actor) {
	was := y.words[key]
	delete(y.words, key)
	y.host.Emit(trace.Event{Kind: how, Key: key, Value: y.host.Names().Value(was.text), By: by, Owner: was.owner})
}

// Revoke implements [sim.Revocable]: it forgets the client's words.
func (y *toy) Revoke(client string, _ bool) (found bool) {
	for _, key := range slices.Sorted(maps.Keys(y.words)) {
		if is := y.words[key]; is.owner != nil && is.owner.Client == client && slices.Contains(y.host.Keys(), key) {
			y.forget(trace.KindDelete, key, trace.Operator())
			found = true
		}
	}
	return found
}

// expireWords forgets the words whose time has passed, and schedules itself for the next
// one.
func (y *toy) check() {
	y.expiryChecks++
	check := y.expiryChecks
	for _, key := range slices.Sorted(maps.Keys(y.words)) {
		until := y.words[key].until
		if until.IsZero() {
			continue
		}
		if !until.After(y.host.Clock().Now()) {
			y.forget(trace.KindExpire, key, nil)
		} else if at, ok := y.host.When(until); ok {
			y.host.At(at, func() {
				if check == y.expiryChecks && y.host.IsUp() {
					y.check()
				}
			})
		}
	}
}

// ClockChanged implements [sim.Server].
func (y *toy) ClockChanged() {
	if y.host.IsUp() {
		y.check()
	}
}

// Crash does nothing: there is no disk, and the waiting clients have hung up.
func (y *toy) Crash(trace.Crash) {}

// Restart shows the effect of a crash: no word is left.
func (y *toy) Restart() {
	y.check()
	for _, key := range slices.Sorted(maps.Keys(y.words)) {
		y.forget(trace.KindForget, key, nil)
	}
}

// Stop does nothing: there are no goroutines.
func (y *toy) Stop() {}
