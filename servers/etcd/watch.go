package etcd

import (
	"fmt"
	"slices"
	"strings"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/protobuf/proto"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/trace"
)

const (
	// watchSync is how often a member serves the watchers that want past changes:
	// watchResyncPeriod in server/storage/mvcc/watchable_store.go. Until then they get
	// nothing, so a notification can be late by that.
	watchSync = 100 * time.Millisecond
	// progressEvery is how often a watcher that asked for it is notified that nothing has
	// changed: progressReportInterval in server/etcdserver/api/v3rpc/watch.go, which adds
	// up to a tenth at random.
	progressEvery = 10 * time.Minute
)

// A watchCall is a call of Watch: several watchers, distinguished by numbers.
type watching struct {
	call     *rpc
	next     int64
	watchers []*watcher // in the order of their creation
	// onEvents is called in place of sending to a client: with events, or with none if the
	// wanted history has been compacted.
	hears func(header *pb.ResponseHeader, events []*mvccpb.Event)
}

// A watcher is notified of the changes of a range of keys.
type watcher struct {
	id       int64
	key, end []byte
	from     int64 // the first revision that it has not been notified of
	behind   bool  // it has yet to be notified of past changes
	prior    bool  // it wants each key as it was before the change
	noPut    bool
	noDelete bool
	progress bool // it wants to be notified that nothing has changed
	heard    bool // it has been notified of a change since the last progress report was due

}

func newWatching(call *rpc) flow {
	w := &watching{call: call}
	call.c.m.watchings = append(call.c.m.watchings, w)
	return w
}

func (w *watching) ended(cancelled bool) {
	m := w.call.c.m
	m.watchings = slices.DeleteFunc(m.watchings, func(o *watching) bool { return o == w })
	if !cancelled {
		w.call.end(0, "", "the end of Watch")
	}
}

func (w *watching) take(request proto.Message) {
	m := w.call.c.m
	switch u := request.(*pb.WatchRequest).RequestUnion.(type) {
	case *pb.WatchRequest_CreateRequest:
		w.create(u.CreateRequest)
	case *pb.WatchRequest_CancelRequest:
		id := u.CancelRequest.GetWatchId()
		i := slices.IndexFunc(w.watchers, func(o *watcher) bool { return o.id == id })
		if i < 0 {
			return
		}
		w.watchers = slices.Delete(w.watchers, i, i+1)
		w.call.send(w.call.asked, &pb.WatchResponse{Header: m.header(0), WatchId: id, Canceled: true}, fmt.Sprintf("watch %d is over", id))
	case *pb.WatchRequest_ProgressRequest:
		// A watcher that is behind is notified of its position later.
		if !slices.ContainsFunc(w.watchers, func(o *watcher) bool { return o.behind }) {
			w.call.send(w.call.asked, &pb.WatchResponse{Header: m.header(0), WatchId: -1}, fmt.Sprintf("all watches are at revision %d", m.store.revision))
		}
	}
}

func (w *watching) create(r *pb.WatchCreateRequest) {
	m := w.call.c.m
	refuse := func(why string) {
		w.call.send(w.call.asked, &pb.WatchResponse{Header: m.header(0), WatchId: -1, Created: true, Canceled: true, CancelReason: why}, "no watch: "+why)
	}
	key := r.Key
	if len(key) == 0 {
		key = []byte{0} // the smallest key
	}
	fromKey := len(r.RangeEnd) == 1 && r.RangeEnd[0] == 0
	switch {
	case r.StartRevision < 0:
		refuse(rpctypes.ErrCompacted.Error())
		return
	case len(r.RangeEnd) > 0 && !fromKey && string(key) >= string(r.RangeEnd):
		refuse("mvcc: watcher range is empty")
		return
	case r.WatchId != 0 && w.has(r.WatchId):
		refuse("mvcc: duplicate watch ID provided on the WatchStream")
		return
	}
	o := &watcher{
		id: r.WatchId, key: key, end: r.RangeEnd, from: r.StartRevision, prior: r.PrevKv, progress: r.ProgressNotify,
		noPut:    slices.Contains(r.Filters, pb.WatchCreateRequest_NOPUT),
		noDelete: slices.Contains(r.Filters, pb.WatchCreateRequest_NODELETE),
	}
	if o.id == 0 {
		for w.has(w.next) {
			w.next++
		}
		o.id = w.next
		w.next++
	}
	if o.from > m.store.revision || o.from == 0 {
		o.from = max(o.from, m.store.revision+1)
	} else {
		o.behind = true
		m.syncLater()
	}
	w.watchers = append(w.watchers, o)
	if o.progress {
		w.reportLater(o)
	}
	w.call.send(w.call.asked, &pb.WatchResponse{Header: m.header(0), WatchId: o.id, Created: true}, fmt.Sprintf("watch %d at revision %d", o.id, m.store.revision))
}

func (w *watching) has(id int64) bool {
	return slices.ContainsFunc(w.watchers, func(o *watcher) bool { return o.id == id })
}

// scheduleProgress notifies a watcher from time to time that nothing has changed.
func (w *watching) reportLater(o *watcher) {
	m := w.call.c.m
	every := progressEvery + time.Duration(m.dice.Int64N(int64(progressEvery/10)))
	m.alarm(m.now().Add(every), func() {
		if w.call.over || !slices.Contains(w.watchers, o) {
			return
		}
		if !o.heard && !o.behind {
			w.call.send(nil, &pb.WatchResponse{Header: m.header(0), WatchId: o.id}, fmt.Sprintf("watch %d is at revision %d", o.id, m.store.revision))
		}
		o.heard = false
		w.reportLater(o)
	})
}

// watchInternally notifies the member itself of the changes of a range from a revision on,
// until stop is called. See watchCall.onEvents.
func (m *member) follows(key, end []byte, from int64, hears func(*pb.ResponseHeader, []*mvccpb.Event)) (stop func()) {
	o := &watcher{key: key, end: end, from: from, behind: from <= m.store.revision}
	w := &watching{watchers: []*watcher{o}, hears: hears}
	m.watchings = append(m.watchings, w)
	if o.behind {
		m.syncLater()
	}
	return func() {
		w.watchers = nil
		m.watchings = slices.DeleteFunc(m.watchings, func(other *watching) bool { return other == w })
	}
}

// notifyWatchers notifies the watchers that are not behind of changes.
func (m *member) changed(changes []*mvccpb.Event) {
	if len(changes) == 0 {
		return
	}
	for _, w := range slices.Clone(m.watchings) {
		for _, o := range slices.Clone(w.watchers) {
			if !o.behind && o.from <= m.store.revision {
				o.from = m.store.revision + 1
				w.tell(m, o, changes, m.store.revision)
			}
		}
	}
}

// notify notifies a watcher of those changes that it wants.
func (w *watching) tell(m *member, o *watcher, changes []*mvccpb.Event, revision int64) {
	resp := &pb.WatchResponse{WatchId: o.id}
	var told []string
	var learns []trace.Event
	for _, e := range changes {
		gone := e.Type == mvccpb.Event_DELETE
		if !inRange(e.Kv.Key, o.key, o.end) || gone && o.noDelete || !gone && o.noPut {
			continue
		}
		if o.prior && (gone || e.Kv.CreateRevision != e.Kv.ModRevision) {
			e = &mvccpb.Event{Type: e.Type, Kv: e.Kv, PrevKv: m.store.before(e)}
		}
		resp.Events = append(resp.Events, e)
		key := tellKey(m.host.Names(), e.Kv.Key)
		told = append(told, fmt.Sprintf("%s was %s at revision %d", key, tellChange(e), e.Kv.ModRevision))
		learns = append(learns, trace.Event{Kind: trace.KindNotify, Key: key})
	}
	if len(resp.Events) == 0 {
		return
	}
	o.heard = true
	resp.Header = m.header(revision)
	if w.hears != nil {
		w.hears(resp.Header, resp.Events)
		return
	}
	w.call.send(nil, resp, strings.Join(told, ", "), learns...)
}

func tellChange(e *mvccpb.Event) string {
	if e.Type == mvccpb.Event_DELETE {
		return "deleted"
	}
	return "put"
}

// scheduleSync serves the watchers that are behind at the next sync.
func (m *member) syncLater() {
	if m.syncing.planned() {
		return
	}
	// The phase may lie in the future.
	since := time.Duration(m.now().Nanos) - m.syncPhase + watchSync
	next := since/watchSync*watchSync + m.syncPhase
	m.syncing = m.alarm(fakeclock.Reading{Clock: fakeclock.Monotonic, Nanos: int64(next)}, m.sync)
}

func (m *member) sync() {
	for _, w := range slices.Clone(m.watchings) {
		for _, o := range slices.Clone(w.watchers) {
			if !o.behind {
				continue
			}
			if o.from < m.store.compacted {
				w.watchers = slices.DeleteFunc(w.watchers, func(other *watcher) bool { return other == o })
				if w.hears != nil {
					w.hears(nil, nil)
					continue
				}
				header := m.header(0)
				header.Revision = 0 // as in etcd
				w.call.send(nil, &pb.WatchResponse{Header: header, WatchId: o.id, Canceled: true, CompactRevision: m.store.compacted},
					fmt.Sprintf("watch %d is over: what was before revision %d is forgotten", o.id, m.store.compacted))
				continue
			}
			o.behind = false
			w.tell(m, o, m.store.since(o.from, o.key, o.end), m.store.revision)
			o.from = max(o.from, m.store.revision+1)
		}
	}
}
