package command

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// sweep plays each job without a fault, and then once for each fault: a delay of one
// message between the first client and the servers, or a pause of that client while the
// message is in flight. It prints what broke, and fails if the lock is to blame for it.
func (f *realityFlags) sweep(cmd *cobra.Command, jobs []job) error {
	ctx, _, stop := notifyInterrupts(func() {})
	defer stop()
	isToBlame := false
	for _, j := range jobs {
		for _, v := range j.Variants {
			s := &realitySweep{flags: f, out: cmd.OutOrStdout(), job: j, variant: v}
			if err := s.run(ctx); err != nil {
				return failure{unexpected, fmt.Errorf("locksim: %w", err)}
			}
			isToBlame = isToBlame || s.blamed > 0
		}
	}
	if isToBlame {
		return failure{status: unexpected}
	}
	return nil
}

// A realitySweep plays one variant with one fault at a time.
type realitySweep struct {
	flags   *realityFlags
	out     io.Writer
	job     job
	variant *scenarios.Variant
	// played counts the plays with a fault. blamed counts all plays in which the lock is to blame
	// for what broke. unknown counts the plays with a fault that are inconclusive and in which it
	// is not to blame.
	played, blamed, unknown int
	causes                  []*sweepCause
}

// run plays all worlds of the sweep.
func (s *realitySweep) run(ctx context.Context) error {
	variant, err := removeFaults(s.job, s.variant)
	if err != nil {
		return err
	}
	base, err := s.play(ctx, variant)
	if err != nil {
		return err
	}
	printLine(s.out, "%s, without a fault: %s", titleOf(s.variant), base.Verdict.Verdict)
	if len(violationsOf(base, checks.BlameLock)) > 0 {
		s.blamed++
		replay := s.flags.replayOf(s.job, s.variant, base.Fencing)
		if variant != s.variant {
			replay += " --set " + noFaults
		}
		s.addCauses(base, replay)
	}
	faults := faultsAt(base.History.Trace, s.ttl()*11/10)
	if len(faults) == 0 {
		printLine(s.out, "no message between %s and the servers was seen, so there is no fault to play", base.History.Trace.Processes[0].Name)
		s.printCauses()
		return nil
	}
	for _, override := range faults {
		run, err := s.playWith(ctx, override)
		if err != nil {
			return err
		}
		s.played++
		blamed := violationsOf(run, checks.BlameLock)
		switch {
		case len(blamed) > 0:
			s.blamed++
		case len(run.Verdict.Reasons) > 0:
			s.unknown++
		}
		fault := "no fault"
		if all := run.History.Trace.Faults; len(all) > 0 {
			fault = all[0].Text + ", " + all[0].Timing
		}
		mark := "·"
		if len(blamed) > 0 {
			mark = "✗"
		} else if len(run.Verdict.Reasons) > 0 {
			mark = "?"
		}
		printLine(s.out, "%s %s: %s", mark, fault, run.Verdict.Verdict)
		s.addCauses(run, s.flags.replayOf(s.job, s.variant, run.Fencing)+" --set "+story.ShellWord(override))
	}
	printLine(s.out, "%d plays, %d of them with a fault; the lock is to blame in %d of all plays, and %d plays with a fault are inconclusive", s.played+1, s.played, s.blamed, s.unknown)
	s.printCauses()
	return nil
}

// ttl returns the TTL of the scenario's lock, or 10 s if it has none.
func (s *realitySweep) ttl() time.Duration {
	config, err := s.variant.Config(scenarios.Options{Lock: s.job.lock, Kind: s.flags.foreignKind(s.variant), Fencing: scenarios.Off})
	if err != nil || config.Lock.TTL == 0 {
		return 10 * time.Second
	}
	return config.Lock.TTL
}

// removeFaults returns a variant of a job without its own faults.
func removeFaults(j job, v *scenarios.Variant) (*scenarios.Variant, error) {
	if len(v.FaultKinds()) == 0 {
		return v, nil
	}
	return replaceValue(j, v, noFaults)
}

// noFaults is the override that removes all faults of a scenario.
const noFaults = "faults=null"

// replaceValue returns a variant of a job with one value replaced.
func replaceValue(j job, v *scenarios.Variant, override string) (*scenarios.Variant, error) {
	single := *j.Scenario
	single.Variants = []*scenarios.Variant{v}
	changed, err := single.With(override)
	if err != nil {
		return nil, err
	}
	return changed.Variants[0], nil
}

// playWith plays the variant once with one value replaced.
func (s *realitySweep) playWith(ctx context.Context, override string) (scenarios.RunResult, error) {
	changed, err := replaceValue(s.job, s.variant, override)
	if err != nil {
		return scenarios.RunResult{}, err
	}
	return s.play(ctx, changed)
}

// play plays a variant once, without fencing.
func (s *realitySweep) play(ctx context.Context, v *scenarios.Variant) (scenarios.RunResult, error) {
	plays, err := s.flags.planVariant(s.job, v)
	if err != nil {
		return scenarios.RunResult{}, err
	}
	result, err := s.flags.playJob(ctx, s.job, plays[:1])
	if err != nil {
		return scenarios.RunResult{}, err
	}
	return result.Runs[0], nil
}

// violationsOf returns the violations of a run that have the given blame.
func violationsOf(run scenarios.RunResult, blame checks.Blame) (all []checks.Finding) {
	for _, f := range run.Verdict.Violations() {
		if f.Blame == blame {
			all = append(all, f)
		}
	}
	return all
}

// faultsAt returns two overrides for each message between the first client and the servers.
// One delays the message by length. The other pauses the client for length while the
// message is in flight.
func faultsAt(t *trace.Trace, length time.Duration) (overrides []string) {
	client := t.Processes[0].Name
	servers := map[string]bool{}
	for _, p := range t.Processes {
		servers[p.Name] = p.Role == trace.RoleNode
	}
	counts := map[trace.Message]int{}
	for i := range t.Events {
		ev := &t.Events[i]
		m := trace.Message{Client: ev.Process, Peer: ev.Peer, Step: ev.Step, Reply: ev.Reply}
		if ev.Reply {
			m.Client, m.Peer = ev.Peer, ev.Process
		}
		if ev.Kind != trace.KindSend || ev.Handshake || m.Client != client || !servers[m.Peer] {
			continue
		}
		counts[m]++
		nth := trace.NthMessage{Message: m, Nth: counts[m]}
		overrides = append(overrides,
			fmt.Sprintf("faults=[{hold: %q, for: %v}]", nth, length),
			fmt.Sprintf("faults=[{when: %q, pause: %s, for: %v}]", m.InFlight(nth.Nth), client, length))
	}
	return overrides
}
