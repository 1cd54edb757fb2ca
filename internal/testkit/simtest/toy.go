package simtest

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

// A toy is one of the smallest possible servers for locks. It stores words under keys, only
// in its memory, and its messages are lines of words:
//
//	take KEY WORD TIME   stores the word, unless the key has one; "yes" or "no"
//	keep KEY WORD TIME   stores the word again, if the key has it; "yes" or "no"
//	drop KEY WORD        removes the word, if the key has it; "yes" or "no"
//	set KEY WORD TIME    stores the word, whatever the key has; "yes"
//	incr KEY             increments the number under the key; the number
//	get KEY              the word, or "nothing"
//	ping                 "pong"
//	wait KEY             waits, and answers with the next word that is stored
//	quit                 closes the connection
//
// A TIME is how long the word is stored, in milliseconds of the toy's wall clock; without a
// TIME the word is stored for ever. A drop without a WORD removes any word.
type toy struct {
	host         *sim.Host
	words        map[string]word
	expiryChecks int // counts the calls of expireWords, of which only the latest may schedule the next
	waits        []waiter
}

// A waiter is a wait request that has not been answered.
type waiter struct {
	caller
	request *sim.Request
	key     string
}

// A word is what is stored under one key, with the time of the toy's wall clock until which it is
// stored, and the client that set it.
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
		IdleCheckGap: func() string { return idleCheckGap },
		Framer:       func(names *sim.Names) sim.Framer { return lineFramer{names} },
		Boot:         func(host *sim.Host) sim.Server { return &toy{host: host, words: map[string]word{}} },
	})
}

// idleCheckGap is the reason why the clients of toys do not check idle connections; "" if
// they do.
var idleCheckGap string

// BlindToys makes the clients of toys not check idle connections, for one test.
func BlindToys(t *testing.T) {
	idleCheckGap = "the clients of toys look at nothing"
	t.Cleanup(func() { idleCheckGap = "" })
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

// A caller is the toy's end of a connection to a client.
type caller struct {
	toy *toy
	end *sim.End
}

// Accept implements [sim.Server].
func (y *toy) Accept(end *sim.End) sim.Endpoint { return caller{y, end} }

// Receive implements [sim.Endpoint]: it executes the request, lets the faults strike that
// wait for this moment, and answers if the node is still up.
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

// serve executes a line and returns the answer; "" means that there is no answer now.
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
		y.store(key, text, "", by)
		return text
	case verb == "set", verb == "take" && !exists, verb == "keep" && matches:
		y.store(key, text, ms, by)
		return "yes"
	case verb == "drop" && matches:
		y.remove(trace.KindDelete, key, by)
		return "yes"
	case verb == "take", verb == "keep", verb == "drop":
		return "no"
	}
	return "what?"
}

// store stores a word and records its owner: the client that set it, even if another client
// stores the same word again.
func (y *toy) store(key, text, milliseconds string, by *trace.Actor) {
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
	y.expireWords()
	y.waits = slices.DeleteFunc(y.waits, func(w waiter) bool {
		if w.key == key {
			w.answer(w.request, text)
		}
		return w.key == key
	})
}

// remove removes a word; kind is the kind of the event that is recorded.
func (y *toy) remove(kind trace.Kind, key string, by *trace.Actor) {
	was := y.words[key]
	delete(y.words, key)
	y.host.Emit(trace.Event{Kind: kind, Key: key, Value: y.host.Names().Value(was.text), By: by, Owner: was.owner})
}

// Revoke implements [sim.Revocable]: it removes the words that a client has set for its
// lock.
func (y *toy) Revoke(client string, _ bool) (found bool) {
	for _, key := range slices.Sorted(maps.Keys(y.words)) {
		if is := y.words[key]; is.owner != nil && is.owner.Client == client && slices.Contains(y.host.Keys(), key) {
			y.remove(trace.KindDelete, key, trace.Operator())
			found = true
		}
	}
	return found
}

// expireWords removes the words whose time has passed, and schedules its next call for the
// moment at which the next word expires.
func (y *toy) expireWords() {
	y.expiryChecks++
	check := y.expiryChecks
	for _, key := range slices.Sorted(maps.Keys(y.words)) {
		until := y.words[key].until
		if until.IsZero() {
			continue
		}
		if !until.After(y.host.Clock().Now()) {
			y.remove(trace.KindExpire, key, nil)
		} else if at, ok := y.host.When(until); ok {
			y.host.At(at, func() {
				if check == y.expiryChecks && y.host.IsUp() {
					y.expireWords()
				}
			})
		}
	}
}

// ClockChanged implements [sim.Server].
func (y *toy) ClockChanged() {
	if y.host.IsUp() {
		y.expireWords()
	}
}

// Crash does nothing: a toy has no disk, and the connections of waiting clients are closed
// by the simulator.
func (y *toy) Crash(trace.Crash) {}

// Restart records the effect of a crash: all words are lost.
func (y *toy) Restart() {
	y.expireWords()
	for _, key := range slices.Sorted(maps.Keys(y.words)) {
		y.remove(trace.KindForget, key, nil)
	}
}

// Stop does nothing: a toy has no goroutines.
func (y *toy) Stop() {}
