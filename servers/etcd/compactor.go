package etcd

import (
	"errors"
	"strconv"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/protobuf/proto"

	"github.com/locksim/locksim/sim"
)

// retention is the setting with which the cluster compacts its history by itself, as etcd does with
// --auto-compaction-mode=revision and --auto-compaction-retention. The value is a number of
// revisions. Every compactEvery, counted from a member's start, the leader compacts all history
// except for this number of latest revisions. See server/etcdserver/api/v3compactor/revision.go.
const (
	retention    = "auto-compaction-retention"
	compactEvery = 5 * time.Minute
)

var retentionSetting = sim.Setting{
	Name:  retention,
	Title: "how many revisions remain when the leader compacts, every 5 minutes; by default it never compacts",
	Check: func(value string) error {
		if n, err := strconv.ParseInt(value, 10, 64); err != nil || n < 1 {
			return errors.New("it must be a whole number of revisions, at least 1")
		}
		return nil
	},
}

// scheduleCompaction makes the leader compact from time to time, if the setting asks for
// it. prior is the revision up to which it last compacted.
func (m *member) scheduleCompaction(prior int64) {
	keep, _ := strconv.ParseInt(m.host.SettingValue(retention), 10, 64)
	if keep == 0 {
		return
	}
	m.after(compactEvery, func() {
		if upTo := m.store.revision - keep; m.isLeader() && upTo > 0 && upTo != prior {
			prior = upTo
			m.write(&pb.InternalRaftRequest{Compaction: &pb.CompactionRequest{Revision: upTo}}, nil, func(_ proto.Message, err error) {
				if err != nil {
					prior = 0 // try again the next time
				}
			})
		}
		m.scheduleCompaction(prior)
	})
}
