package locktest

import (
	"context"
	"slices"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// claimCases returns the test cases that check the claims of the Config while nothing is
// wrong.
func claimCases() []testCase {
	return []testCase{
		conformanceCase("claims/lease", "a client holds the lock and does nothing, while another tries to acquire it", needsExpiry, func(*subject) []scene {
			holdPastExpiry := acquireThen(func(ctx context.Context, p *sim.Program, section *sim.Section) error {
				if err := p.Sleep(ttls(1.3)); err != nil {
					return err
				}
				return section.Release(ctx)
			})
			waiter := newContender("client-2", actionOf("client-1", trace.Acquired))
			waiter.RetryEvery = ttl / 400
			return []scene{{clients: []sim.Client{{Name: "client-1", Run: holdPastExpiry}, waiter}}}
		}),
		conformanceCase("claims/extend", "a client extends its lease again and again, while another tries to acquire it", needsExtend, func(*subject) []scene {
			newScene := func(name string, pause float64) scene {
				return scene{name: name, failsOnBreach: true, clients: []sim.Client{
					{Name: "client-1", Run: holdByExtending(pause, true)}, newContender("client-2", actionOf("client-1", trace.Acquired)),
				}}
			}
			return []scene{newScene("late", 0.6), newScene("early", 0.3)}
		}),
		conformanceCase("claims/no-false-alarm", "nothing happens to a lease", needsNotification, func(*subject) []scene {
			return []scene{{failsOnBreach: true, clients: []sim.Client{{Name: "client-1", Run: acquireThen(
				func(ctx context.Context, p *sim.Program, section *sim.Section) error {
					if err := p.Sleep(ttls(0.5)); err != nil {
						return err
					}
					if isNotified, _ := isLossNotified(section); isNotified {
						return newBreach(checks.ClaimNotifies, "within half a TTL it was notified of the loss of a lease that it had not lost")
					}
					if _, renews := section.Lease().(locks.Renewer); renews {
						if err := p.Sleep(ttls(2)); err != nil {
							return err
						}
						if isNotified, _ := isLossNotified(section); isNotified {
							return newBreach(checks.ClaimNotifies, "within 2.5 TTLs it was notified of the loss of a lease that the lock renews by itself")
						}
					}
					return writeAndRelease(ctx, section)
				},
			)}}}}
		}),
		conformanceCase("claims/tokens", "clients take turns", func(s *subject) string {
			if !s.config.Tokens {
				return "the lock does not claim to have fencing tokens"
			}
			return ""
		}, func(*subject) []scene {
			template := sim.Client{Sections: 4, RetryEvery: shortRetry, Works: ttl / 100}
			clients := slices.Repeat([]sim.Client{template}, 3)
			for i, name := range []string{"client-1", "client-2", "client-3"} {
				clients[i].Name = name
			}
			return []scene{{clients: clients}}
		}),
	}
}

// holdByExtending returns a program that holds the lock for more than two TTLs by extending
// its lease. interval is the time between two extends, in TTLs. If nothing is wrong, an
// extend that fails is a breach: the lock broke its claim.
func holdByExtending(interval float64, nothingIsWrong bool) program {
	return acquireThen(func(ctx context.Context, p *sim.Program, section *sim.Section) error {
		if err := section.Read(ctx, trace.DefaultObject); err != nil {
			return err
		}
		for i := range int(2.4 / interval) {
			if err := p.Sleep(ttls(interval)); err != nil {
				return err
			}
			if isNotified, _ := isLossNotified(section); isNotified && i > 0 {
				return newBreach(checks.ClaimExtends, "extend succeeded, and within %v it was notified that the lease was lost", ttls(interval))
			}
			if err := extend(ctx, section); err != nil {
				if nothingIsWrong {
					return newBreach(checks.ClaimExtends, "extend of a lease that it held failed: %v", err)
				}
				break
			}
		}
		return writeAndRelease(ctx, section)
	})
}
