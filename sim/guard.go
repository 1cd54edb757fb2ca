package sim

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/locksim/locksim/storage"
)

// A Guard is a member of a cluster that can keep data beside the locks.
type Guard interface {
	Server
	// Stands says whether the cluster has a key by which a section asked for a lock, as one
	// of its transactions would find it at this moment.
	Stands(client string, section int) bool
}

// stands says whether a cluster has a key by which a section asked for a lock.
func (w *World) stands(client string, section int) bool {
	for _, p := range w.processes {
		if h := p.host(); h != nil {
			if guard, ok := h.server.(Guard); ok {
				return guard.Stands(client, section)
			}
		}
	}
	return false
}

// CheckStorage refuses a storage that is kept where no lock is.
func (cfg *Config) CheckStorage() error {
	if cfg.Storage.InCluster {
		return cfg.checkKept()
	}
	name := cfg.Lock.Kind.System
	if checks := []storage.Policy{"", storage.None, storage.Writes, storage.ReadsAndWrites}; cfg.Lock.Kind.KeepsData && !slices.Contains(checks, cfg.Storage.Fencing) {
		return fmt.Errorf("a storage that checks the policy %s is asked for nothing here: %s keeps the data itself", cfg.Storage.Fencing, cfg.Lock.Kind.Name)
	}
	if system, known := LookupSystem(name); cfg.Storage.Fencing == storage.Owner && !system.Cluster && (known || name == "") {
		return fmt.Errorf("a storage that checks the policy %s is kept in the cluster that keeps the lock, and %s is not kept in one", storage.Owner, cmp.Or(cfg.Lock.Kind.Name, "the lock"))
	}
	return nil
}
