package etcd

import (
	"errors"
	"strconv"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/protobuf/proto"

	"github.com/locksim/locksim/sim"
)

// retention is the setting by which the cluster forgets the past by itself, as etcd does with
// --auto-compaction-mode=revision and --auto-compaction-retention: each compactEvery, counted
// from a member's start, whoever leads then has all forgotten that is older than so many
// revisions. See server/etcdserver/api/v3compactor/revision.go.
const (
	retention    = "auto-compaction-retention"
	compactEvery = 5 * time.Minute
)

var retentionSetting = sim.Setting{
	Name:  retention,
	Title: "how many revisions stay when, each 5 minutes, the leader has the past forgotten; by default nobody does",
	Check: func(value string) error {
		if n, err := strconv.ParseInt(value, 10, 64); err != nil || n < 1 {
			return errors.New("it is a whole number of revisions, from 1")
		}
		return nil
	},
}

// compactLater has the past forgotten from time to time, if the member was told so. prior is
// up to where it was the last time.
func (m *member) compactLater(prior int64) {
	keep, _ := strconv.ParseInt(m.host.Set(retention), 10, 64)
	if keep == 0 {
		return
	}
	m.after(compactEvery, func() {
		if to := m.store.revision - keep; m.isLeader() && to > 0 && to != prior {
			prior = to
			m.write(&pb.InternalRaftRequest{Compaction: &pb.CompactionRequest{Revision: to}}, nil, func(_ proto.Message, err error) {
				if err != nil {
					prior = 0 // again, the next time
				}
			})
		}
		m.compactLater(prior)
	})
}
