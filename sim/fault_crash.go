package sim

import (
	"fmt"

	"github.com/locksim/locksim/internal/faultcard"
	"github.com/locksim/locksim/trace"
)

func init() {
	registerFault(FaultKind{
		Name:   "crash",
		Title:  "a process crashes; when the fault ends, a server restarts or its copy takes over",
		Effect: trace.KillsProcess,
		New:    func() Action { return &CrashFault{} },
		Manners: []Manner{
			{Phrases: trace.Phrases{Subject: "{target}", Predicate: "crashes", Noun: "a crash of {target}"}},
			{Value: string(trace.PowerLoss), Slug: "power-loss", Phrases: trace.Phrases{Subject: "{target}", Predicate: "loses its power", Noun: "a crash of {target}"}},
			{Value: string(trace.Shutdown), Slug: "shutdown", Phrases: trace.Phrases{Subject: "{target}", Predicate: "is shut down", Noun: "a crash of {target}"}},
			{
				Value: string(trace.FailOver), Slug: "failover", Phrases: trace.Phrases{Subject: "{target}", Predicate: "loses its machine", Noun: "a crash of {target}"},
				Roles: []trace.Role{trace.RoleStorage},
			},
		},
		Sites: []Site{
			{Roles: servers, At: faultcard.AtPoints, Lengths: briefOrLong, Disks: true},
			{Roles: clients, At: faultcard.AtPoints, Manners: []string{""}},
		},
	})
	registerFault(FaultKind{
		Name:    "promote",
		Title:   "a replica becomes a master and takes over its master's address",
		Effect:  trace.MovesRole,
		New:     func() Action { return &Promote{} },
		Manners: []Manner{{Phrases: trace.Phrases{Subject: "{target}", Predicate: "takes over from its master", Noun: "a promotion of {target}"}}},
		Sites:   []Site{{Roles: nodes, At: faultcard.AtEveryPoint, Needs: faultcard.NeedsReplica}},
	})
}

// CrashFault is the action of the fault crash: a process crashes. When the fault ends, a server
// restarts, or the storage's copy takes over; a client stays down.
type CrashFault struct {
	Process string      `yaml:"crash" json:"crash" jsonschema:"description=The process that crashes. A server restarts when the fault ends; a client stays dead."`
	How     trace.Crash `yaml:"how,omitempty" json:"how,omitempty" fault:"manner" jsonschema:"enum=kill,enum=power-loss,enum=shutdown,enum=failover,description=kill (the default): the process is killed; power-loss: its machine loses power; shutdown: it ends in an orderly way; failover: the storage's machine is lost for good\\, and its copy takes over when the fault ends."`
}

func (a *CrashFault) check(t Topology) error {
	switch a.How {
	case "", trace.Kill, trace.PowerLoss, trace.Shutdown, trace.FailOver:
	default:
		return fmt.Errorf("how: %q is not a kind of crash; write kill, power-loss, shutdown or failover", a.How)
	}
	if err := t.checkProcess("crash", a.Process); err != nil {
		return err
	}
	if a.How == trace.FailOver && a.Process != trace.StorageName {
		return fmt.Errorf("how: %s has no copy that could take over: only the storage has one; for a node write power-loss, and promote its replica", a.Process)
	}
	return nil
}

func (a *CrashFault) strike(w *World, _ *faultState) {
	how := a.How
	if how == "" {
		how = trace.Kill
	}
	w.byName[a.Process].crash(how)
}

func (a *CrashFault) lift(w *World, _ *faultState) { w.byName[a.Process].restart() }

// crash crashes a process. If crashes overlap, the first one decides how the process ends,
// and the process restarts when the last of them ends.
func (p *process) crash(how trace.Crash) {
	if p.crashCount++; p.crashCount > 1 {
		return
	}
	w := p.w
	p.recordChange(trace.Event{Kind: trace.KindCrash, Text: string(how)})
	p.clock.Resume() // ends a suspension of the machine, so that its wall clock shows true time again
	p.setState(down)
	p.powerless = how == trace.PowerLoss || how == trace.FailOver
	p.backlog = nil
	clear(p.pausedBy)
	for _, c := range w.conns {
		if c.clientProcess == p || c.serverProcess == p {
			c.handleCrash(p)
		}
	}
	if p.actor != nil {
		p.clock.Stop()
		p.actor.crash()
		return
	}
	p.server.crash(how)
}

// restart starts a server again when its last crash has ended. A client that has crashed
// stays down.
func (p *process) restart() {
	if p.crashCount--; p.crashCount > 0 || p.server == nil {
		return
	}
	p.powerless = false
	p.setState(running)
	p.recordChange(trace.Event{Kind: trace.KindRestart})
	p.server.restart()
	for _, c := range p.w.conns {
		if c.serverProcess == p && c.toServer.link.cutCount == 0 {
			c.toServer.unstall()
		}
	}
}

// Promote is the action of the fault promote: a replica becomes a master.
type Promote struct {
	Node string `yaml:"promote" json:"promote" jsonschema:"description=The replica that becomes a master."`
}

func (a *Promote) check(t Topology) error {
	if err := t.checkProcess("promote", a.Node); err != nil {
		return err
	}
	if t.Nodes[a.Node].ReplicaOf == "" {
		return fmt.Errorf("promote: %s is not a replica; set its replica-of", a.Node)
	}
	return nil
}

func (a *Promote) strike(w *World, _ *faultState) { w.byName[a.Node].host().server.(Replica).Promote() }
