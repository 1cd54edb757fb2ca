package redis

import (
	"sync"

	"github.com/alicebob/miniredis/v2"

	"github.com/locksim/locksim/servers/redis/internal/script"
)

// An instance is a started miniredis. When a node has ended, its instance is emptied and
// serves another node, because starting one takes as long as several commands.
type instance struct {
	*miniredis.Miniredis
	// nodesServed counts the nodes that the instance has served.
	nodesServed int
	// isBound reports whether the instance was started inside a world, so that no other world can
	// use it (see [pool]).
	isBound bool

	interpreter *script.Interpreter // the interpreter of its scripts; nil before the first script
}

// scriptInterpreter returns the interpreter for the scripts of this instance, and makes it
// if necessary.
func (in *instance) scriptInterpreter() *script.Interpreter {
	if in.interpreter == nil {
		in.interpreter = script.NewInterpreter()
	}
	return in.interpreter
}

// A pool keeps instances that no node uses. They are started outside of all worlds, the simulations
// of this program. A world runs in a bubble of package testing/synctest, and Go binds a WaitGroup
// to the bubble in which it is first used. miniredis uses WaitGroups.
type pool struct {
	mu   sync.Mutex
	free []*instance
}

// instances is the pool of this program.
var instances pool

const (
	// maxFree is how many unused instances are kept: about enough for two of the largest
	// worlds.
	maxFree = 128
	// maxServed is how many nodes an instance serves before it is closed. miniredis keeps a
	// number for every key that ever existed, so its memory would grow without a limit.
	maxServed = 1000
)

// prepare starts instances until the pool has one for each of the given number of nodes, or
// maxFree.
func (p *pool) prepare(nodes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.free) < min(nodes, maxFree) {
		p.free = append(p.free, startInstance())
	}
}

// take returns an empty instance. If the pool has none, it starts one.
func (p *pool) take() *instance {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.free) - 1
	if last < 0 {
		in := startInstance()
		in.isBound = true
		return in
	}
	in := p.free[last]
	p.free[last] = nil
	p.free = p.free[:last]
	return in
}

// give takes an instance back when its node has ended.
func (p *pool) give(in *instance) {
	in.nodesServed++
	if in.isBound || in.nodesServed >= maxServed {
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

// startInstance starts a miniredis without a listener. Its keys expire by the clock that
// the node sets.
func startInstance() *instance {
	in := &instance{Miniredis: miniredis.NewMiniRedis()}
	// Dial is the only call that starts a server without a listener.
	if c, err := in.Dial(); err == nil {
		c.Close()
	}
	in.ClockTTL(true)
	return in
}
