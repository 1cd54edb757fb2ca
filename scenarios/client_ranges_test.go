package scenarios

import (
	"slices"
	"strings"
	"testing"
)

// The clients of a range are in order, and are like any other clients. A variant can change
// one of them, and add more.
func TestClientRanges(t *testing.T) {
	const text = `
title: several
assumption: none
lock: {kind: single, ttl: 10s}
clients:
  first: {works: 5s}
  client-2 to client-4: {works: 1s}
variants:
  one-more:
    clients:
      client-3: {works: 3s}
      worker-9 to worker-10: {starts: client-2 acquired}
    witnesses:
      - worker-10 finished
    expect: &
  as-they-are:
    witnesses:
      - client-4 finished
    expect: &
`
	s, err := Parse("x.yaml", []byte(strings.ReplaceAll(text, "&", "{off: {verdict: safe}, on: {verdict: safe}}")))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]string{
		{"first 5s", "client-2 1s", "client-3 3s", "client-4 1s", "worker-9 0s", "worker-10 0s"},
		{"first 5s", "client-2 1s", "client-3 1s", "client-4 1s"},
	} {
		config, err := s.Variants[i].Config(Options{Fencing: Off})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range config.Clients {
			got = append(got, c.Name+" "+c.Works.String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has the clients %q, want %q", s.Variants[i].Name, got, want)
		}
	}
	again, err := Parse("y.yaml", s.Variants[0].Document().Bytes())
	if err != nil || again.Variants[0].spec.Clients[4].name != "worker-9" {
		t.Errorf("after it is written and read again, the first variant has an error or another fifth client: %v", err)
	}
}
