package trace

import (
	"reflect"
	"strings"
	"testing"
)

func TestParseMessage(t *testing.T) {
	for text, want := range map[string]Message{
		"client-1's request to storage":         {Client: "client-1", Peer: "storage"},
		"client-1's write request to storage":   {Client: "client-1", Peer: "storage", Step: Write},
		"redis-3's reply to client-1":           {Client: "client-1", Peer: "redis-3", Reply: true},
		"redis-3's reply to client-1's acquire": {Client: "client-1", Peer: "redis-3", Step: Acquire, Reply: true},
		" redis-3's   reply to client-1 ":       {Client: "client-1", Peer: "redis-3", Reply: true},
	} {
		got, err := ParseMessage(text)
		if err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
		checkEqual(t, "String of "+text, got.String(), strings.Join(strings.Fields(text), " "))
		checkEqual(t, "Names of "+text, strings.Join(got.Names(), " "), want.Client+" "+want.Peer)
		checkEqual(t, "IsZero of "+text, got.IsZero(), false)
	}
	for _, bad := range []string{
		"'s request to storage", "'s reply to client-1", "redis-1's reply to 's acquire",
		"", "client-1", "client-1 request to storage", "client-1's request", "client-1's request to", "client-1's request to storage now",
		"client-1's write reply to storage", "redis-1's reply to", "redis-1's reply to client-1's", "redis-1's reply to client-1 acquire",
		"redis-1's reply to client-1's acquire twice", "client-1's wrote request to storage", "redis-1's reply to client-1's lock",
	} {
		if m, err := ParseMessage(bad); err == nil {
			t.Errorf("%q was parsed as %+v, want an error", bad, m)
		}
	}
	checkEqual(t, "IsZero of the zero message", Message{}.IsZero(), true)
}

// Selects is true for exactly those events that are about the selected message. want has a
// digit for each event of all: 1 if it is selected.
func TestMessageSelects(t *testing.T) {
	request := Event{Kind: KindSend, Process: "client-1", Peer: "redis-1", Step: Write}
	requestArrived := Event{Kind: KindDeliver, Process: "redis-1", Peer: "client-1", Step: Write}
	reply := Event{Kind: KindSend, Process: "redis-1", Peer: "client-1", Reply: true, Step: Write}
	replyArrived := Event{Kind: KindDeliver, Process: "client-1", Peer: "redis-1", Reply: true, Step: Write}
	handshake := request
	handshake.Handshake = true
	other := request
	other.Process = "client-2"
	all := []Event{request, requestArrived, reply, replyArrived, handshake, other}
	for text, want := range map[string]string{
		"client-1's request to redis-1":         "110000",
		"client-1's write request to redis-1":   "110000",
		"client-1's read request to redis-1":    "000000",
		"client-1's request to redis-2":         "000000",
		"redis-1's reply to client-1":           "001100",
		"redis-1's reply to client-1's write":   "001100",
		"redis-1's reply to client-1's release": "000000",
		"redis-1's reply to client-2":           "000000",
		"client-2's request to redis-1":         "000001",
	} {
		m, err := ParseMessage(text)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for i := range all {
			got += map[bool]string{true: "1", false: "0"}[m.Selects(&all[i])]
		}
		checkEqual(t, text, got, want)
	}
}

// The text of a message, and the texts of the points that are made from it, can be parsed,
// with the same result.
func TestPointsOfAMessage(t *testing.T) {
	for _, m := range []Message{
		{Client: "client-1", Peer: "redis-2"},
		{Client: "client-1", Peer: "redis-2", Step: Acquire},
		{Client: "client-1", Peer: "redis-2", Reply: true},
		{Client: "client-1", Peer: "redis-2", Step: Release, Reply: true},
	} {
		for _, nth := range []int{0, 1, 2, 3, 11, 112, 121} {
			for _, p := range []Point{m.InFlight(nth), m.Arrived(nth)} {
				written, err := ParsePoint(p.String())
				if err != nil || !reflect.DeepEqual(written, p) {
					t.Errorf("%q is parsed as %+v, %v; want %+v", p, written, err, p)
				}
			}
			one := NthMessage{m, nth}
			if got, err := ParseNthMessage(one.String()); err != nil || got.Message != m || max(got.Nth, 1) != max(nth, 1) {
				t.Errorf("%q is parsed as %+v, %v; want %+v", one, got, err, one)
			}
		}
	}
	checkEqual(t, "a request in flight", Message{Client: "client-1", Peer: "redis-2", Step: Acquire}.InFlight(22).String(), "client-1's acquire request to redis-2 is in flight, 22nd time")
	checkEqual(t, "a reply that arrived", Message{Client: "client-1", Peer: "redis-2", Reply: true}.Arrived(0).String(), "redis-2's reply to client-1 arrived")
	checkEqual(t, "a reply of any server", Message{Client: "client-1", Reply: true, Step: Acquire}.String(), "every reply to client-1's acquire")
	checkEqual(t, "a request to any server", Message{Client: "client-1"}.String(), "every request of client-1")
}
