package kubernetes

import (
	"k8s.io/client-go/tools/leaderelection"

	"github.com/locksim/locksim/locks"
)

// Elector is a LeaderElector of client-go, unmodified, for anybody's own use of it: it tells by
// the process's clock how long a Lease has not been renewed, and what it asks while the process
// is paused waits until that goes on.
func Elector(e *locks.Env, config leaderelection.LeaderElectionConfig) (*leaderelection.LeaderElector, error) {
	config.Lock = &record{Interface: config.Lock, env: e, life: e.Lifetime()}
	elector, err := leaderelection.NewLeaderElector(config)
	if err != nil {
		return nil, err
	}
	observe(elector, e.Clock)
	return elector, nil
}
