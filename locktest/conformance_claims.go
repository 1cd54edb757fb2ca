package locktest

import (
	"context"
	"slices"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// claimCases returns the test cases that check the claims of the Config while nothing is
// wrong.
func claimCases() []testCase {
	return []testCase{
		conformanceCase("claims/lease", "a client holds the lock and does nothing, while another tries to acquire it", needsEnd, func(*subject) []scene {
			sits := holding(func(ctx context.Context, p *sim.Program, in *sim.Section) error {
				if err := p.Sleep(ttls(1.3)); err != nil {
					return err
				}
				return in.Release(ctx)
			})
			eager := another("client-2", did("client-1", trace.Acquired))
			eager.RetryEvery = ttl / 400
			return []scene{{clients: []sim.Client{{Name: "client-1", Run: sits}, eager}}}
		}),
		conformanceCase("claims/extend", "a client extends its lease again and again, while another tries to acquire it", needsExtend, func(*subject) []scene {
			every := func(name string, pause float64) scene {
				return scene{name: name, countsBreaches: true, clients: []sim.Client{
					{Name: "client-1", Run: extending(pause, true)}, another("client-2", did("client-1", trace.Acquired)),
				}}
			}
			return []scene{every("late", 0.6), every("early", 0.3)}
		}),
		conformanceCase("claims/no-false-alarm", "nothing happens to a lease", needsNotice, func(*subject) []scene {
			return []scene{{countsBreaches: true, clients: []sim.Client{{Name: "client-1", Run: holding(
				func(ctx context.Context, p *sim.Program, in *sim.Section) error {
					if err := p.Sleep(ttls(0.5)); err != nil {
						return err
					}
					if yes, _ := isLossNotified(in); yes {
						return breach(checks.ClaimNotifies, "within half a TTL it was told of the loss of a lease that it had not lost")
					}
					return writeAndRelease(ctx, in)
				},
			)}}}}
		}),
		conformanceCase("claims/tokens", "clients take turns", func(s *subject) string {
			if !s.config.Tokens {
				return "the lock does not claim to have fencing tokens"
			}
			return ""
		}, func(*subject) []scene {
			each := sim.Client{Sections: 4, RetryEvery: shortRetry, Works: ttl / 100}
			clients := slices.Repeat([]sim.Client{each}, 3)
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
func extending(every float64, nothingIsWrong bool) program {
	return holding(func(ctx context.Context, p *sim.Program, in *sim.Section) error {
		if err := in.Read(ctx, trace.DefaultObject); err != nil {
			return err
		}
		for i := range int(2.4 / every) {
			if err := p.Sleep(ttls(every)); err != nil {
				return err
			}
			if yes, _ := isLossNotified(in); yes && i > 0 {
				return breach(checks.ClaimExtends, "extend succeeded, and within %v it was told that the lease was lost", ttls(every))
			}
			if err := extend(ctx, in); err != nil {
				if nothingIsWrong {
					return breach(checks.ClaimExtends, "extend of a lease that it held failed: %v", err)
				}
				break
			}
		}
		return writeAndRelease(ctx, in)
	})
}
