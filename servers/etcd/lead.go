package etcd

import (
	"errors"

	"github.com/locksim/locksim/sim"
)

// lessorOf is the setting by which a member ends and prolongs sessions as an earlier release
// does, in which who takes itself for the leader asks nobody. It was mended in 3.4.31, 3.5.13
// and 3.6.0: https://github.com/etcd-io/etcd/pull/16822.
const (
	lessorOf   = "lessor"
	unchecking = "3.4.23"
)

var lessorSetting = sim.Setting{
	Name:  lessorOf,
	Title: "the release as which a leader ends and prolongs sessions: 3.4.23 never makes sure that it still leads; by default it does if it has not ticked for a while",
	Check: func(value string) error {
		if value != unchecking {
			return errors.New("it is " + unchecking)
		}
		return nil
	},
}

// errNotPrimary is what a client hears who asks a member that no longer leads to renew a
// lease: lease.ErrNotPrimary in server/lease.
var errNotPrimary = errors.New("not a primary lessor")

// leads says whether the member still leads, which takes itself for the leader. One that has
// not ticked for a while, because it was paused or waits for its disk, asks the others first:
// see ensureLeadership in server/etcdserver/server.go.
func (m *member) leads(then func(still bool)) {
	if m.active() || m.host.Set(lessorOf) == unchecking {
		then(m.isLeader())
		return
	}
	m.upToDate(func(err error) { then(err == nil && m.isLeader()) })
}
