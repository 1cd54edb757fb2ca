package redis

import (
	"sync"

	"github.com/alicebob/miniredis/v2"

	"github.com/locksim/locksim/servers/redis/internal/script"
)

// An instance is a miniredis. It is a node of one world after the other, because starting
// one takes as long as several commands.
type instance struct {
	*miniredis.Miniredis
	// served is how many nodes it has been.
	served int
	// bound: it was started in a world, so another world cannot use it.
	bound bool

	interpreter *script.Interpreter // nil: it has not run a script yet
}

// scriptInterpreter returns the interpreter of its scripts.
func (in *instance) scriptInterpreter() *script.Interpreter {
	if in.interpreter == nil {
		in.interpreter = script.NewInterpreter()
	}
	return in.interpreter
}

// A pool has instances that no world uses. They are started outside of all worlds, because
// a WaitGroup belongs to the world in which it was first used.
type pool struct {
	mu   sync.Mutex
	free []*instance
}

var instances pool

const (
	// maxFree is about enough for two of the largest worlds.
	maxFree = 128
	// maxServed is how many nodes an instance serves. It is bounded because miniredis keeps
	// a number for every key that ever existed.
	maxServed = 1000
)

// prepare makes sure that there are so many free instances.
func (p *pool) prepare(nodes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.free) < min(nodes, maxFree) {
		p.free = append(p.free, startInstance())
	}
}

// take returns an empty instance.
func (p *pool) take() *instance {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.free) - 1
	if last < 0 {
		in := startInstance()
		in.bound = true
		return in
	}
	in := p.free[last]
	p.free[last] = nil
	p.free = p.free[:last]
	return in
}

// give takes back the instance of a node that has ended.
func (p *pool) give(in *instance) {
	in.served++
	if in.bound || in.served >= maxServed {
		in.Close()
		return
	}
	in.Server().SetPreHook(nil)
	in.FlushAll()
	if in.interpreter != nil {
		in.interpreter.Restart()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.free) < maxFree {
		p.free = append(p.free, in)
	}
}

func startInstance() *instance {
	in := &instance{Miniredis: miniredis.NewMiniRedis()}
	// Dial starts a server without a listener.
	if c, err := in.Dial(); err == nil {
		c.Close()
	}
	in.ClockTTL(true)
	return in
}
