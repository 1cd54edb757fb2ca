// Command grader runs the lock of an exercise in worlds. It reads them from its standard
// input, and writes what happened to a file that is named there. It judges nothing.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"

	exercise "example.com/exercise"
)

// An order says what to run, and where to write it.
type order struct {
	Output   string
	Patience time.Duration
	Worlds   []world
}

// A world is one run of a scenario, with a seed, and with fencing tokens or without them.
type world struct {
	Name, Text, Fencing string
	Seed                uint64
	// Strangers are clients that use another implementation of the same protocol.
	Strangers []string
	// Tokens claims that each lease has a fencing token.
	Tokens bool
}

// A record is what happened in one world.
type record struct {
	Name  string
	Trace *trace.Trace
	// Ending says how the lock's code ended the run by misbehaviour; nil if it did not.
	Ending *ending
	// Error is why the world could not be run.
	Error string
}

// An ending is misbehaviour of the lock's code that ended a run. Rule is its kind, such as "panic"
// or "hang". Why describes it in one line. Stacks are the stacks of the goroutines to blame, if
// there are any.
type ending struct{ Rule, Why, Stacks string }

// An adapter wraps the exercise's lock, so that it implements [locks.Lock].
type adapter struct{ *exercise.Lock }

// The exercise asks for a method Expires. The simulation works without it, so this line checks
// that the lease has it.
var _ interface{ Expires() time.Time } = (*exercise.Lease)(nil)

func (a adapter) Acquire(ctx context.Context) (locks.Lease, error) {
	var lease *exercise.Lease
	lease, err := a.Lock.Acquire(ctx)
	switch {
	case errors.Is(err, exercise.ErrNotAcquired):
		return nil, locks.ErrNotAcquired
	case err != nil:
		return nil, err
	case lease == nil:
		// The simulation reports a nil interface as a mistake. A nil *exercise.Lease in an
		// interface would not be a nil interface.
		return nil, nil
	}
	return lease, nil
}

// kindFor returns the exercise's lock as a kind of lock for a world.
func kindFor(w world) locks.Kind {
	return locks.Kind{
		Name:   "your-lock",
		Title:  "the lock of the exercise",
		System: locks.Redis,
		Claims: trace.Claims{Tokens: w.Tokens},
		Slots: func(key string, nodes int) (slots []locks.Slot, quorum int) {
			for i := range nodes {
				slots = append(slots, locks.Slot{Node: i, Key: key})
			}
			return slots, nodes/2 + 1
		},
		New: func(e *locks.Env) (locks.Lock, error) {
			if slices.Contains(w.Strangers, e.Client) {
				stranger, _ := locks.Lookup("redlock")
				return stranger.New(e)
			}
			var nodes []*redis.Client
			for i := range e.Nodes {
				nodes = append(nodes, locks.RedisClient(e, i))
			}
			var lock *exercise.Lock = exercise.New(nodes, e.Key, e.TTL)
			if lock == nil {
				return nil, errors.New("New returned nil")
			}
			return adapter{lock}, nil
		},
	}
}

// run runs a world.
func run(w world, patience time.Duration) record {
	r := record{Name: w.Name}
	fail := func(err error) record {
		r.Error = err.Error()
		return r
	}
	scenario, err := scenarios.Parse("world.yaml", []byte(w.Text))
	if err != nil {
		return fail(err)
	}
	config, err := scenario.Variants[0].Config(scenarios.Options{Seed: w.Seed, Kind: kindFor(w), Fencing: w.Fencing})
	if err != nil {
		return fail(err)
	}
	r.Trace, err = sim.RunPatiently(config, patience)
	if e := sim.Ending(err); e != nil {
		r.Ending = &ending{e.Rule, e.Why, e.Stacks}
	} else if err != nil {
		return fail(err)
	}
	return r
}

func main() {
	if err := grade(); err != nil {
		fmt.Fprintln(os.Stderr, "grader:", err)
		os.Exit(1)
	}
}

// grade carries out the order on the standard input. It writes a map from the names of a lease's
// methods to their types, then a record for each world, then "end". It runs no more worlds after
// one that the lock's code ended without a trace.
func grade() error {
	var o order
	if err := json.NewDecoder(os.Stdin).Decode(&o); err != nil {
		return err
	}
	file, err := os.Create(o.Output)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(file)
	write := func(v any) error { return errors.Join(json.NewEncoder(out).Encode(v), out.Flush()) }
	methods := map[string]string{}
	lease := reflect.TypeFor[*exercise.Lease]()
	for i := range lease.NumMethod() {
		m := reflect.Zero(lease).Method(i)
		methods[lease.Method(i).Name] = m.Type().String()
	}
	if err := write(methods); err != nil {
		return err
	}
	for _, w := range o.Worlds {
		r := run(w, o.Patience)
		if err := write(r); err != nil {
			return err
		}
		if r.Trace == nil && r.Ending != nil {
			break // its goroutines may still run
		}
	}
	return errors.Join(write("end"), file.Close())
}
