package kubernetes

import (
	"k8s.io/client-go/tools/leaderelection"

	"github.com/locksim/locksim/locks"
)

// Elector returns a LeaderElector of client-go, unmodified, for a lock of your own. The elector
// measures, by the process's clock, for how long a Lease was not renewed. While the process is
// paused, the elector sends no requests.
func Elector(e *locks.Env, config leaderelection.LeaderElectionConfig) (*leaderelection.LeaderElector, error) {
	config.Lock = &recordingLock{Interface: config.Lock, env: e, life: e.Lifetime()}
	elector, err := leaderelection.NewLeaderElector(config)
	if err != nil {
		return nil, err
	}
	setElectorClock(elector, e.Clock)
	return elector, nil
}
