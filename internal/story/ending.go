package story

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// ending returns the last sentence of a paragraph. It says what broke, that nothing broke, or
// which misconduct the run shows. It is "" if the statements before it already say what broke.
func (p *Paragraph) ending() string {
	if conduct := p.conduct(); conduct != "" {
		return conduct
	}
	broken := p.verdict.Violations()
	if len(broken) == 0 {
		return "nothing breaks"
	}
	f := broken[0]
	if ev := p.event(f.At); ev != nil && (p.damageBy(ev) != "" || p.intrusion(ev) != "") {
		return ""
	}
	switch f.Property {
	case checks.NoLostUpdate:
		return Possessive(p.event(f.Events[0]).Client()) + " write is gone, although the storage had acknowledged it"
	case checks.SerialSections:
		return "no serial order of the sections explains the data"
	case checks.LeaseExclusion:
		return fmt.Sprintf("%s and %s hold the lock at the same time", p.event(f.Events[0]).Process, p.event(f.Events[1]).Process)
	case checks.TokenOrder:
		return "the token of the newer grant is not greater than that of the older one"
	case checks.ReleaseOwnership:
		return "" // a statement already describes the command
	case checks.Progress:
		return p.describeStuck(f)
	}
	return p.describeBriefly(f)
}

// describeStuck says which clients wait in vain after the last fault. f is the
// finding that progress is violated.
func (p *Paragraph) describeStuck(f checks.Finding) string {
	since := 0
	if last := p.history.LastFaultUntil(f.At); last != nil {
		since = last.Seq
	}
	var clients []string
	failed := map[string]int{}      // by client: how many of its attempts failed after the last fault
	open := map[string]trace.Step{} // by client: the step that has not ended
	for _, c := range p.history.Calls() {
		ended := c.Ended != nil && c.Ended.Seq <= f.At
		if c.Began == nil || c.Began.Seq > f.At {
			continue
		}
		if !slices.Contains(clients, c.Client) {
			clients = append(clients, c.Client)
		}
		switch {
		case p.hadCrashed(c.Client, f.At):
		case !ended:
			open[c.Client] = c.Step
		case c.Step == trace.Acquire && !c.Ended.OK && c.Ended.Seq > since:
			failed[c.Client]++
		}
	}
	summary := "no client completes a section"
	if since > 0 {
		summary = "after that " + summary
	}
	var parts []string
	for _, client := range clients {
		switch step, isWaiting := open[client]; {
		case failed[client] == 1:
			parts = append(parts, client+" asks for the lock once, in vain")
		case failed[client] > 1:
			parts = append(parts, fmt.Sprintf("%s asks for the lock %d times, always in vain", client, failed[client]))
		case isWaiting && step == trace.Acquire:
			parts = append(parts, client+" waits for an answer to its acquire")
		case isWaiting:
			parts = append(parts, fmt.Sprintf("%s does not finish its %s", client, step))
		}
	}
	if len(parts) == 0 {
		return summary
	}
	return fmt.Sprintf("%s until %s: %s", summary, ProseSpan(p.event(f.At).At), List(parts))
}

// hadCrashed reports whether a client crashed before an event or at it.
func (p *Paragraph) hadCrashed(client string, seq int) bool {
	return slices.ContainsFunc(p.history.Spells(), func(s *history.Spell) bool {
		return s.Process == client && s.State == history.Down && s.Began.Seq <= seq
	})
}
