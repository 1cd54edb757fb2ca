package runs

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A Remote runs worlds in worker processes, several at the same time. If a lock ends its
// process or never returns, only that one world is affected: its result says that both runs
// ended in a panic or a hang.
type Remote struct {
	*Pool
	// local makes the configurations of worlds. It runs no world.
	local *Local
}

// NewRemote starts as many workers as jobs says. Each worker is a process that command makes. It
// must call [ServeWorlds], and runs worlds of the same bases as local. silence is how long a worker
// may send nothing before it counts as hung; 0 is a minute. NewRemote returns an error if the
// workers cannot be started.
//
// To keep the pool busy, call Run from 1 + [MaxPrefetch] goroutines for each worker.
func NewRemote(jobs int, command func() *exec.Cmd, local *Local, silence time.Duration) (*Remote, error) {
	p, err := NewPool(PoolOptions{Workers: jobs, Command: command, MaxSilence: silence, Prefetch: MaxPrefetch, Setup: workOrder{Bases: local.bases}})
	return &Remote{p, local}, err
}

// Run runs a world in some worker. If ctx is done before the result arrives, Run returns
// immediately, and the result is dropped.
func (p *Remote) Run(ctx context.Context, w WorldSpec) (WorldResult, error) {
	r, err := p.request(ctx, workOrder{World: w.toWire()})
	r.Outcome.Grounds = r.Grounds
	return r.Outcome, err
}

// Report runs a world in some worker, with or without fencing tokens. The trace in the report has
// only the facts that a trace in a file has.
func (p *Remote) Report(ctx context.Context, w WorldSpec, fencing string) (RunReport, error) {
	r, err := p.request(ctx, workOrder{World: w.toWire(), ReportFencing: fencing})
	a := RunReport{RunResult: r.Outcome.Off}
	switch {
	case r.Trace != nil:
		h := history.New(r.Trace)
		a.JudgedRun = JudgedRun{h, checks.Check(h, nil), r.Trace.Ending}
	case r.Ending != nil:
		ending := *r.Ending
		ending.Stacks = r.Stacks
		a.JudgedRun = judgeEnding(&ending)
	}
	return a, err
}

// Config makes the configuration of a world.
func (p *Remote) Config(w WorldSpec, fencing string) (sim.Config, error) {
	return p.local.Config(w, fencing)
}

// request gives an order to some worker and waits for the reply. If the worker dies, the
// reply describes that.
func (p *Remote) request(ctx context.Context, o workOrder) (r workReply, err error) {
	_, err = p.Wait(p.Submit(ctx, o, nil), &r)
	var death *Death
	switch {
	case errors.As(err, &death):
		ending := endingOf(*death)
		r := RunResult{Breaks: []Break{breakOf(ending, checks.BlameLock)}}
		return workReply{Outcome: WorldResult{Off: r, On: r}, Ending: &ending, Stacks: ending.Stacks}, nil
	case err == nil && r.Error != "":
		err = errors.New(r.Error)
	}
	return r, err
}

// endingOf returns the ending of the run in which a worker died.
func endingOf(d Death) trace.Ending {
	ending := trace.Ending{Rule: d.Rule(), Why: "the process that ran it "}
	if d.Panic == "" {
		d.Stderr = "" // the text may be from an earlier world
		ending.Why += d.Error()
		return ending
	}
	reason, stacks, _ := strings.Cut(shortStack(d.Stderr), "\n")
	ending.Why, ending.Stacks = ending.Why+"died: "+reason, stacks
	return ending
}
