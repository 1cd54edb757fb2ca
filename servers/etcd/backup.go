package etcd

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/raft/v3"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// With these settings a power loss destroys a member's disk. The member is then restored
// from its last backup, as with etcdutl snapshot save and restore. Changes after the backup
// are lost. Revisions continue from the revision of the backup, or from a higher one, as
// with --bump-revision and --mark-compacted, which etcdutl has since 3.5.10. A cluster is
// restored as a whole, so the settings work only for a cluster of one member.
const (
	backupEvery  = "backup-every"
	bumpRevision = "bump-revision"
)

var backupSettings = []sim.Setting{
	{
		Name:  backupEvery,
		Title: "the time between backups of a member, counted from its start; after a power loss it is restored from the latest one; by default a power loss spares its disk",
		Check: func(value string) error {
			if d, err := time.ParseDuration(value); err != nil || d <= 0 {
				return errors.New("it must be a positive time, such as 1m")
			}
			return nil
		},
	},
	{
		Name:  bumpRevision,
		Title: "how many revisions are skipped when a backup is restored, and the earlier ones are marked as compacted; by default none are skipped",
		Check: func(value string) error {
			if n, err := strconv.ParseInt(value, 10, 64); err != nil || n < 1 || n > 1<<60 {
				return errors.New("it must be a whole number of revisions, at least 1")
			}
			return nil
		},
	},
}

// A backup is a member's keys and leases. For the trace it also has, for each of the
// world's locks, the keys of the lock with the clients that put them. The zero backup is
// that of a new member.
type backup struct {
	store  *store
	leases []lease
	claims []map[string]claim
}

// scheduleBackup makes a backup of the member from time to time, if the setting asks for
// it.
func (m *member) scheduleBackup() {
	interval, _ := time.ParseDuration(m.host.SettingValue(backupEvery))
	if interval <= 0 {
		return
	}
	m.after(interval, func() {
		m.latestBackup = m.backUp()
		m.scheduleBackup()
	})
}

// backUp returns a backup of the member as it is now.
func (m *member) backUp() backup {
	b := backup{store: m.store.copy()}
	for _, l := range m.lessor.sorted() {
		b.leases = append(b.leases, lease{id: l.id, ttl: l.ttl, keys: maps.Clone(l.keys)})
	}
	for _, lock := range m.cluster.locks {
		b.claims = append(b.claims, maps.Clone(lock.claims))
	}
	return b
}

// loseDisk handles a power loss. If the settings ask for backups, the member loses its disk.
func (m *member) loseDisk() {
	if m.host.SettingValue(backupEvery) == "" {
		return
	}
	if !m.isAlone() {
		m.host.Doubt("one of several members is restored from a backup, and how the other members react is not simulated")
		return
	}
	m.diskLost = true
}

// restore gives the member a new disk, on which the log begins with the last backup.
func (m *member) restore() {
	m.revisionBeforeRestore = m.store.revision
	m.diskLost = false
	m.initial = m.latestBackup
	if bump, _ := strconv.ParseInt(m.host.SettingValue(bumpRevision), 10, 64); bump > 0 {
		if m.initial.store == nil {
			m.initial.store = newStore()
		}
		m.initial.store = m.initial.store.copy()
		m.initial.store.revision += bump
		must(m.initial.store.compact(m.initial.store.revision))
	}
	m.disk = raft.NewMemoryStorage()
	firstDisk(m.disk, []uint64{m.id})
	m.cluster.recordedIndex = 0
}

// loadInitialState gives the member the keys and leases that it had before the first entry
// of its log.
func (m *member) loadInitialState() {
	m.store = newStore()
	m.lessor = &lessor{m: m, leases: map[int64]*lease{}, checkPhase: time.Duration(m.random.Int64N(int64(leaseCheck)))}
	if m.initial.store != nil {
		m.store = m.initial.store.copy()
	}
	m.store.onAttach = m.lessor.attach
	for _, l := range m.initial.leases {
		m.lessor.leases[l.id] = &lease{id: l.id, ttl: l.ttl, keys: maps.Clone(l.keys)}
	}
}

// recordRestored records what the restore of the backup has changed: the locks, the data,
// and the count of revisions, from which tokens are made.
func (m *member) recordRestored() {
	if m.store.revision < m.revisionBeforeRestore {
		m.host.RecordEvent(trace.Event{Kind: trace.KindForget, Key: "revision", Value: strconv.FormatInt(m.revisionBeforeRestore, 10)})
	}
	m.cluster.recordRestoredData(m)
	for i, lock := range m.cluster.locks {
		claims := map[string]claim{}
		if m.initial.claims != nil {
			claims = maps.Clone(m.initial.claims[i])
		}
		lock.restoreClaims(m, claims)
	}
}

// restoreClaims gives the lock the keys that it has in the backup and records what that
// changes.
func (r *lockRegister) restoreClaims(m *member, claims map[string]claim) {
	r.claims = claims
	head := r.findHead(m)
	if old := r.head; old != nil {
		if head != nil && bytes.Equal(head.Key, old.Key) && r.hasSameOwner(head, old) {
			return
		}
		r.recordEvent(m, trace.KindForget, nil, nil)
	}
	if r.head, r.owner = head, nil; head != nil {
		r.owner = r.claims[string(head.Key)].by
		r.recordEvent(m, trace.KindRestore, nil, nil)
	}
}

// findHead returns the key that identifies the holder of the lock, or nil. See
// [lockRegister].
func (r *lockRegister) findHead(m *member) *mvccpb.KeyValue {
	if ownKey := m.store.current.get([]byte(r.name)); ownKey != nil {
		return ownKey
	}
	return m.store.firstCreated(r.name + "/")
}

// copy returns a store with the same keys and history. Changes of one store do not change
// the other.
func (s *store) copy() *store {
	c := *s
	c.current, c.compactedState, c.history = slices.Clone(s.current), slices.Clone(s.compactedState), slices.Clone(s.history)
	return &c
}
