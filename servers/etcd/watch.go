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
	// watchSync is how often a member serves the watchers that ask for past changes. Such a watcher
	// gets nothing before the next round, so its notifications can be late by this time. See
	// watchResyncPeriod in server/storage/mvcc/watchable_store.go.
	watchSync = 100 * time.Millisecond
	// progressEvery is how often a watcher that asks for it is notified that nothing has
	// changed. etcd adds up to a tenth at random. See progressReportInterval in
	// server/etcdserver/api/v3rpc/watch.go.
	progressEvery = 10 * time.Minute
)

// A watchCall serves a call of Watch. It has several watchers, which the client
// distinguishes by numbers.
type watchCall struct {
	call     *rpc
	nextID   int64
	watchers []*watcher // in the order of their creation
	// onEvents is called instead of sending a response, if the member itself watches. It gets
	// events, or nil if the history that the watcher wants has been compacted.
	onEvents func(header *pb.ResponseHeader, events []*mvccpb.Event)
}

// A watcher is notified of the changes of a range of keys.
type watcher struct {
	id            int64
	key, end      []byte
	nextRevision  int64 // the first revision that it has not been notified of
	isBehind      bool  // it has yet to be notified of past changes
	wantsPrior    bool  // it wants each key as it was before the change
	noPut         bool
	noDelete      bool
	wantsProgress bool // it wants to be notified that nothing has changed
	wasNotified   bool // it has been notified of a change since the last progress report was due

}

// newWatchCall returns the handler of a call of Watch.
func newWatchCall(call *rpc) streamHandler {
	w := &watchCall{call: call}
	call.c.m.watchCalls = append(call.c.m.watchCalls, w)
	return w
}

// clientEnded implements [streamHandler].
func (w *watchCall) clientEnded(cancelled bool) {
	m := w.call.c.m
	m.watchCalls = slices.DeleteFunc(m.watchCalls, func(o *watchCall) bool { return o == w })
	if !cancelled {
		w.call.end(0, "", "the end of Watch")
	}
}

// receive implements [streamHandler].
func (w *watchCall) receive(request proto.Message) {
	m := w.call.c.m
	switch u := request.(*pb.WatchRequest).RequestUnion.(type) {
	case *pb.WatchRequest_CreateRequest:
		w.createWatcher(u.CreateRequest)
	case *pb.WatchRequest_CancelRequest:
		id := u.CancelRequest.GetWatchId()
		i := slices.IndexFunc(w.watchers, func(o *watcher) bool { return o.id == id })
		if i < 0 {
			return
		}
		w.watchers = slices.Delete(w.watchers, i, i+1)
		w.call.send(w.call.lastRequest, &pb.WatchResponse{Header: m.header(0), WatchId: id, Canceled: true}, fmt.Sprintf("watch %d has ended", id))
	case *pb.WatchRequest_ProgressRequest:
		// If a watcher is behind, the client gets no answer to this request.
		if !slices.ContainsFunc(w.watchers, func(o *watcher) bool { return o.isBehind }) {
			w.call.send(w.call.lastRequest, &pb.WatchResponse{Header: m.header(0), WatchId: -1}, fmt.Sprintf("all watches are at revision %d", m.store.revision))
		}
	}
}

// createWatcher adds a watcher, or answers why it cannot.
func (w *watchCall) createWatcher(r *pb.WatchCreateRequest) {
	m := w.call.c.m
	refuse := func(why string) {
		w.call.send(w.call.lastRequest, &pb.WatchResponse{Header: m.header(0), WatchId: -1, Created: true, Canceled: true, CancelReason: why}, "no watch: "+why)
	}
	key := r.Key
	if len(key) == 0 {
		key = []byte{0} // the smallest key
	}
	hasNoEnd := len(r.RangeEnd) == 1 && r.RangeEnd[0] == 0
	switch {
	case r.StartRevision < 0:
		refuse(rpctypes.ErrCompacted.Error())
		return
	case len(r.RangeEnd) > 0 && !hasNoEnd && string(key) >= string(r.RangeEnd):
		refuse("mvcc: watcher range is empty")
		return
	case r.WatchId != 0 && w.has(r.WatchId):
		refuse("mvcc: duplicate watch ID provided on the WatchStream")
		return
	}
	o := &watcher{
		id: r.WatchId, key: key, end: r.RangeEnd, nextRevision: r.StartRevision, wantsPrior: r.PrevKv, wantsProgress: r.ProgressNotify,
		noPut:    slices.Contains(r.Filters, pb.WatchCreateRequest_NOPUT),
		noDelete: slices.Contains(r.Filters, pb.WatchCreateRequest_NODELETE),
	}
	if o.id == 0 {
		for w.has(w.nextID) {
			w.nextID++
		}
		o.id = w.nextID
		w.nextID++
	}
	if o.nextRevision > m.store.revision || o.nextRevision == 0 {
		o.nextRevision = max(o.nextRevision, m.store.revision+1)
	} else {
		o.isBehind = true
		m.scheduleSync()
	}
	w.watchers = append(w.watchers, o)
	if o.wantsProgress {
		w.scheduleProgress(o)
	}
	w.call.send(w.call.lastRequest, &pb.WatchResponse{Header: m.header(0), WatchId: o.id, Created: true}, fmt.Sprintf("watch %d at revision %d", o.id, m.store.revision))
}

func (w *watchCall) has(id int64) bool {
	return slices.ContainsFunc(w.watchers, func(o *watcher) bool { return o.id == id })
}

// scheduleProgress notifies a watcher each time that nothing has changed for progressEvery.
func (w *watchCall) scheduleProgress(o *watcher) {
	m := w.call.c.m
	every := progressEvery + time.Duration(m.random.Int64N(int64(progressEvery/10)))
	m.alarm(m.now().Add(every), func() {
		if w.call.isDone || !slices.Contains(w.watchers, o) {
			return
		}
		if !o.wasNotified && !o.isBehind {
			w.call.send(nil, &pb.WatchResponse{Header: m.header(0), WatchId: o.id}, fmt.Sprintf("watch %d is at revision %d", o.id, m.store.revision))
		}
		o.wasNotified = false
		w.scheduleProgress(o)
	})
}

// watchInternally makes the member itself watch a range of keys, from a revision on, until
// stop is called. onEvents is as in [watchCall].
func (m *member) watchInternally(key, end []byte, from int64, onEvents func(*pb.ResponseHeader, []*mvccpb.Event)) (stop func()) {
	o := &watcher{key: key, end: end, nextRevision: from, isBehind: from <= m.store.revision}
	w := &watchCall{watchers: []*watcher{o}, onEvents: onEvents}
	m.watchCalls = append(m.watchCalls, w)
	if o.isBehind {
		m.scheduleSync()
	}
	return func() {
		w.watchers = nil
		m.watchCalls = slices.DeleteFunc(m.watchCalls, func(other *watchCall) bool { return other == w })
	}
}

// notifyWatchers notifies the watchers of changes, except for those that are behind.
func (m *member) notifyWatchers(changes []*mvccpb.Event) {
	if len(changes) == 0 {
		return
	}
	for _, w := range slices.Clone(m.watchCalls) {
		for _, o := range slices.Clone(w.watchers) {
			if !o.isBehind && o.nextRevision <= m.store.revision {
				o.nextRevision = m.store.revision + 1
				w.notify(m, o, changes, m.store.revision)
			}
		}
	}
}

// notify notifies a watcher of the changes that it wants.
func (w *watchCall) notify(m *member, o *watcher, changes []*mvccpb.Event, revision int64) {
	resp := &pb.WatchResponse{WatchId: o.id}
	var texts []string
	var clientEvents []trace.Event
	for _, e := range changes {
		isDeletion := e.Type == mvccpb.Event_DELETE
		if !inRange(e.Kv.Key, o.key, o.end) || isDeletion && o.noDelete || !isDeletion && o.noPut {
			continue
		}
		if o.wantsPrior && (isDeletion || e.Kv.CreateRevision != e.Kv.ModRevision) {
			e = &mvccpb.Event{Type: e.Type, Kv: e.Kv, PrevKv: m.store.valueBefore(e)}
		}
		resp.Events = append(resp.Events, e)
		key := describeKey(m.host.Names(), e.Kv.Key)
		texts = append(texts, fmt.Sprintf("%s was %s at revision %d", key, describeChange(e), e.Kv.ModRevision))
		clientEvents = append(clientEvents, trace.Event{Kind: trace.KindNotify, Key: key})
	}
	if len(resp.Events) == 0 {
		return
	}
	o.wasNotified = true
	resp.Header = m.header(revision)
	if w.onEvents != nil {
		w.onEvents(resp.Header, resp.Events)
		return
	}
	w.call.send(nil, resp, strings.Join(texts, ", "), clientEvents...)
}

func describeChange(e *mvccpb.Event) string {
	if e.Type == mvccpb.Event_DELETE {
		return "deleted"
	}
	return "put"
}

// scheduleSync sets the alarm at which the member serves the watchers that are behind.
func (m *member) scheduleSync() {
	if m.syncAlarm.isPlanned() {
		return
	}
	// The first round, at syncPhase, may lie in the future.
	since := time.Duration(m.now().Nanos) - m.syncPhase + watchSync
	next := since/watchSync*watchSync + m.syncPhase
	m.syncAlarm = m.alarm(fakeclock.Reading{Clock: fakeclock.Monotonic, Nanos: int64(next)}, m.sync)
}

// sync notifies the watchers that are behind of the past changes. It ends a watcher whose
// changes have been compacted.
func (m *member) sync() {
	for _, w := range slices.Clone(m.watchCalls) {
		for _, o := range slices.Clone(w.watchers) {
			if !o.isBehind {
				continue
			}
			if o.nextRevision < m.store.compacted {
				w.watchers = slices.DeleteFunc(w.watchers, func(other *watcher) bool { return other == o })
				if w.onEvents != nil {
					w.onEvents(nil, nil)
					continue
				}
				header := m.header(0)
				header.Revision = 0 // as in etcd
				w.call.send(nil, &pb.WatchResponse{Header: header, WatchId: o.id, Canceled: true, CompactRevision: m.store.compacted},
					fmt.Sprintf("watch %d has ended: the history before revision %d has been compacted", o.id, m.store.compacted))
				continue
			}
			o.isBehind = false
			w.notify(m, o, m.store.changesSince(o.nextRevision, o.key, o.end), m.store.revision)
			o.nextRevision = max(o.nextRevision, m.store.revision+1)
		}
	}
}
