package sim

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/storage"
)

// CheckStorage returns an error if the storage cannot check its policy where it is: in the
// cluster of the lock, or in a process of its own. It also returns an error if the cluster
// of the lock cannot keep data.
func (cfg *Config) CheckStorage() error {
	if cfg.Storage.InCluster {
		return cfg.checkClusterStorage()
	}
	if cfg.Storage.Fencing == storage.Owner {
		return fmt.Errorf("a storage with the policy %s must be in the cluster that keeps the lock: write in: cluster", storage.Owner)
	}
	checks := []storage.Policy{"", storage.None, storage.Writes, storage.ReadsAndWrites}
	if cfg.Lock.Kind.KeepsData && !slices.Contains(checks, cfg.Storage.Fencing) {
		return fmt.Errorf("a storage with the policy %s gets no requests in this world: the lock %s keeps the data itself", cfg.Storage.Fencing, cfg.Lock.Kind.Name)
	}
	return nil
}
