package story

import (
	"encoding"
	"testing"

	"github.com/locksim/locksim/trace"
)

// Every point at which a fault can strike is described in correct English, whatever the
// subject of the sentence is.
func TestWhen(t *testing.T) {
	for _, test := range []struct {
		trigger        trace.Trigger
		subject, words string
	}{
		{trace.Trigger{}, "client-1", ""},
		{before("client-1 write"), "client-1", "just before it writes"},
		{before("client-1 write"), "redis-3", "just before client-1 writes"},
		{before("client-1 acquire, 3rd time"), "client-1", "just before it asks for the lock for the third time"},
		{when("client-1 read"), "redis-3", "once client-1 has read"},
		{when("client-1 failed to acquire, 12th time"), "client-1", "once it has failed to get the lock for the 12th time"},
		{when("client-1 holds redis-2"), "redis-2", "as client-1's key is set on it"},
		{when("client-1's keys expired"), "client-1", "as its keys expire"},
		{when("client-1's key expired on redis-1"), "storage", "as client-1's key on redis-1 expires"},
		{when("client-1's session expired"), "client-1", "as its session expires"},
		{when("client-1's session expired"), "etcd-1", "as client-1's session expires"},
		{when("etcd-2 became leader"), "etcd-1", "once etcd-2 leads"},
		{when("client-3 was notified, 2nd time"), "client-3", "once it has been notified for the second time"},
		{when("redis-1's clock jumped"), "redis-2", "as redis-1's clock jumps"},
		{when("storage applied client-2's write"), "storage", "once it has applied client-2's write"},
		{when("client-1's write request to storage is in flight"), "client-1", "as it sends its write request to the storage"},
		{when("client-1's acquire request to redis-2 is in flight, 2nd time"), "redis-2", "as client-1 sends its second acquire request to redis-2"},
		{when("client-1's acquire request to redis-2 arrived, 3rd time"), "redis-2", "as client-1's third acquire request reaches it"},
		{when("client-1's request to redis-2 arrived"), "client-1", "as a request of it reaches redis-2"},
		{when("redis-2's reply to client-1's acquire is in flight"), "redis-2", "as it answers client-1's acquire"},
		{when("storage's reply to client-1's write arrived"), "client-1", "as the storage's answer to its write arrives"},
		{when("redis-2's reply to client-1 arrived, 2nd time"), "redis-1", "as redis-2's answer to client-1 arrives for the second time"},
		{when("5s after client-1 acquired"), "client-1", "5s after it has the lock"},
		{when("1s after the start"), "client-1", "1s after the start"},
		{when("client-1 released or client-1 crashed"), "client-2", "once client-1 has released, or once client-1 has crashed"},
		{when("every reply to client-1's acquire is in flight"), "client-1", "when every reply to client-1's acquire is in flight"},
	} {
		if words := When(test.trigger, test.subject); words != test.words {
			t.Errorf("When(%s, %q) is %q, want %q", test.trigger, test.subject, words, test.words)
		}
	}
}

// before returns the trigger of a fault that strikes just before a step.
func before(step string) (t trace.Trigger) {
	read(&t.Before, step)
	return t
}

// when returns the trigger of a fault that strikes at a point.
func when(point string) (t trace.Trigger) {
	read(&t.When, point)
	return t
}

// read parses a text, and panics if it cannot be parsed.
func read(into encoding.TextUnmarshaler, text string) {
	if err := into.UnmarshalText([]byte(text)); err != nil {
		panic(err)
	}
}
