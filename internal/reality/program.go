package reality

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/locks"
)

// Serve makes this process the program of one client, whose lock is one that is linked into
// this program. It reads commands from in and writes answers to out until in ends.
func Serve(in io.Reader, out io.Writer, kind locks.Kind, options locks.Options) error {
	p := &ownProgram{kind: kind, options: options, out: json.NewEncoder(out)}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var c Command
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return fmt.Errorf("%q is not a command: %w", shorten(lines.Bytes()), err)
		}
		p.answer(p.execute(c))
	}
	return lines.Err()
}

// An ownProgram is the program of a client whose lock is linked into this program.
type ownProgram struct {
	kind    locks.Kind
	options locks.Options
	env     *locks.Env
	lock    locks.Lock
	leases  map[int]locks.Lease // by section

	mu  sync.Mutex // guards out
	out *json.Encoder
}

// answer sends one message.
func (p *ownProgram) answer(a Answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.out.Encode(a) // if the harness has ended, so has the input
}

// execute carries out one command and returns the answer.
func (p *ownProgram) execute(c Command) Answer {
	ctx := context.Background()
	switch c.Type {
	case Init:
		if err := p.init(c); err != nil {
			return failed(err)
		}
		return Answer{Type: Ready}
	case Acquire:
		lease, err := p.lock.Acquire(ctx)
		if err != nil {
			return failed(err)
		}
		p.leases[c.Section] = lease
		return p.acquired(lease, c.Section)
	case Extend:
		e, ok := p.leases[c.Section].(locks.Extender)
		switch {
		case !ok && p.kind.Endless: // there is nothing to extend
			return Answer{Type: Extended}
		case !ok:
			return failed(fmt.Errorf("%s cannot be asked to extend a lease", p.kind.Name))
		}
		if err := e.Extend(ctx); err != nil {
			return failed(err)
		}
		return Answer{Type: Extended, Until: untilOf(p.leases[c.Section])}
	case Release:
		if err := p.leases[c.Section].Release(ctx); err != nil {
			return failed(err)
		}
		return Answer{Type: Released}
	}
	return Answer{Type: OK}
}

// init makes the lock.
func (p *ownProgram) init(c Command) (err error) {
	p.leases = map[int]locks.Lease{}
	p.env = &locks.Env{
		Key: c.Key, Client: c.Client, TTL: time.Duration(c.TTL * float64(time.Millisecond)), Nodes: c.Servers,
		Dial: new(net.Dialer).DialContext, Clock: fakeclock.System(), Rand: rand.Reader, Options: p.options,
	}
	if p.lock, err = p.kind.New(p.env); err != nil {
		return err
	}
	p.env.WarmUp(context.Background())
	return nil
}

// acquired returns the answer about a grant, and passes on what the lease reports later.
func (p *ownProgram) acquired(lease locks.Lease, section int) Answer {
	a := Answer{Type: Acquired, Until: untilOf(lease)}
	if s, ok := lease.(locks.Sessioner); ok {
		a.Session = s.Session()
	}
	if t, ok := lease.(locks.Tokener); ok {
		a.Token = t.Token()
	}
	if n, ok := lease.(locks.Notifier); ok {
		a.Notifies = true
		go func() {
			<-n.Lost()
			p.answer(Answer{Type: Lost, Section: section})
		}()
	}
	if r, ok := lease.(locks.Renewer); ok {
		go func() {
			for ends := range r.Renewals() {
				p.answer(Answer{Type: Renewed, Section: section, Until: millisOf(ends)})
			}
		}()
	}
	return a
}

// untilOf returns when a lease ends, in milliseconds since 1970; 0 if it declares no end.
func untilOf(lease locks.Lease) float64 {
	ends, declared := locks.EndOf(lease)
	if !declared {
		return 0
	}
	return millisOf(ends)
}

// millisOf converts a reading of one of this machine's clocks to milliseconds since 1970.
func millisOf(r fakeclock.Reading) float64 {
	if r.Clock == fakeclock.Monotonic {
		now := fakeclock.System().Read(fakeclock.Monotonic)
		r.Nanos = time.Now().Add(r.Sub(now)).UnixNano()
	}
	return float64(r.Nanos) / 1e6
}

// failed returns the answer about an error.
func failed(err error) Answer { return Answer{Type: Failed, Error: err.Error()} }
