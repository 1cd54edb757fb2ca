package sim

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/locksim/locksim/internal/faultcard"
	"github.com/locksim/locksim/trace"
)

func init() {
	registerFault(FaultKind{
		Name:   "disk-stall",
		Title:  "a node's disk confirms no write for a while",
		Effect: trace.StallsDisk,
		New:    func() Action { return &DiskStall{} },
		Manners: []Manner{
			{Phrases: trace.Phrases{Subject: "{target}'s disk", Predicate: "stalls{lasting}", Noun: "a stall of {target}'s disk"}},
		},
		// A search tries only a stall that is longer than the TTL: a shorter one looks to
		// the clients like a node that does not answer for a while.
		Sites: []Site{{Roles: nodes, At: faultcard.AtPoints, Lengths: []int{200}, Needs: faultcard.NeedsDisk}},
	})
}

// DiskStall is the action of the fault disk-stall. While it lasts, no fsync or fdatasync on
// the node's disk returns, as on a volume whose network or controller is stuck. The process
// still runs, receives and answers. Only an action that needs data on the disk waits, so a
// node that writes nothing works as usual.
//
// If the node crashes during the stall, data that was not on the disk is lost. The node has
// never confirmed to a client that this data is on the disk.
type DiskStall struct {
	Node string `yaml:"disk-stall" json:"disk-stall" jsonschema:"description=The node whose disk stalls. The simulator must know how a node with its persistence behaves during a stall."`
}

func (a *DiskStall) check(t Topology) error {
	node, system, err := t.lookupNode("disk-stall", a.Node, "disk stalls")
	if err != nil {
		return err
	}
	switch disk, has := system.disk(node.Persistence); {
	case !has:
		return fmt.Errorf("disk-stall: %s is %s %s, which has no disk", a.Node, article(system.Node), cmp.Or(system.Node, "server"))
	case !disk.HandlesStall:
		return fmt.Errorf("disk-stall: %s is %s %s with persistence %s: if its disk stalls, %s", a.Node, article(system.Node), system.Node, disk.Persistence, cmp.Or(disk.StallAdvice, "the node continues or stops; if it stops, use a pause of the node instead"))
	}
	return nil
}

func (a *DiskStall) strike(w *World, f *faultState) {
	h := w.byName[a.Node].host()
	h.setDiskStallFaults(append(h.diskStallFaults, f))
}

func (a *DiskStall) lift(w *World, f *faultState) {
	h := w.byName[a.Node].host()
	h.setDiskStallFaults(slices.DeleteFunc(slices.Clone(h.diskStallFaults), func(o *faultState) bool { return o == f }))
}
