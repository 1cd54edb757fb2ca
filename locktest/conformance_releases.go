package locktest

import (
	"context"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// releaseCases release a lease long after it was acquired, and after the context of acquire
// has ended. Nothing is wrong in them, so no release may fail.
func releaseStories() []story {
	return []story{
		fixed("releases", "a lease is released long after acquire has returned", nil, func(s *subject) []scene {
			late := held(0.9, false)
			scenes := []scene{
				// The second client may wait in its call of acquire for as long as the
				// first one holds the lock.
				{name: "late", clients: []sim.Client{
					{Name: "client-1", Run: late},
					{Name: "client-2", Run: late, Starts: on(did("client-1", trace.Acquired))},
				}},
				{name: "context-ended", clients: []sim.Client{
					{Name: "client-1", Run: held(0.5, true)}, another("client-2", did("client-1", trace.Acquired)),
				}},
			}
			if s.config.Notifies { // it may renew its lease by itself
				scenes = append(scenes, scene{name: "renewed", clients: []sim.Client{
					{Name: "client-1", Run: held(3.3, false)}, another("client-2", did("client-1", trace.Acquired)),
				}})
			}
			return scenes
		}),
	}
}

// holdFor returns a program that holds the lock for n TTLs, does its work and releases the
// lock. If endsContext, the context of acquire ends as soon as acquire has returned: the
// context limits the call, not the lease.
func held(long float64, endsContext bool) program {
	return asking(func(ctx context.Context, p *sim.Program) error {
		bounded, cancel := context.WithCancel(ctx)
		defer cancel()
		in, err := get(bounded, p, p.Lock())
		if err != nil {
			return err
		}
		if endsContext {
			cancel()
		}
		if err := p.Sleep(ttls(long)); err != nil {
			return err
		}
		return use(ctx, in)
	})
}
