package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// This file is about data in the cluster that keeps the lock: a storage with InCluster. A client
// reads and writes such data with the lock's own client library (see [locks.DataClient]). The
// cluster's members record these requests as [trace.KindServe] events, like a storage process. The
// member that answers a read records the read, even if the member's data is stale. A write is
// recorded once, for the cluster, when a majority of the members have stored it.

// A DataServer is a server that keeps data in addition to locks: a member of a cluster, or
// a single server.
type DataServer interface {
	Server
	// Kept returns the data under a key: how many times it was written, and its value.
	Kept(key string) (version int, value string)
}

// Object returns the object whose data is kept under a key. It returns false if no object has that
// key.
func (h *Host) Object(key string) (object string, is bool) {
	if !strings.Contains(key, dataKeys) || !h.w.cfg.Storage.InCluster {
		return "", false
	}
	for _, o := range h.w.cfg.objects() {
		if h.system.KeyOf(locks.DataKey(o)) == key {
			return o, true
		}
	}
	return "", false
}

// dataKeys is the text that the key of each object contains.
var dataKeys = locks.DataKey("")

// NewServeEvent returns the event of a client's request for an object, which a member or
// the cluster has served.
func NewServeEvent(step trace.Step, object string, by *trace.Actor) trace.Event {
	return trace.Event{Kind: trace.KindServe, Peer: by.Client, By: by, Section: by.Section, Step: step, Object: object, OK: true}
}

// objects returns the names of the objects that the clients read and write, in alphabetical
// order.
func (cfg *Config) objects() []string {
	var all []string
	for _, c := range cfg.Clients {
		for _, t := range c.does() {
			if t.Object != "" {
				all = append(all, t.Object)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// data returns what a lock's client has to know to read and write the data; nil if the
// storage is not in the cluster.
func (w *World) data() *locks.Data {
	s := w.cfg.Storage
	if !s.InCluster {
		return nil
	}
	return &locks.Data{Objects: w.cfg.objects(), ReadMode: s.Reads, ComparesVersion: s.Fencing == storage.Optimistic, ChecksOwner: s.Fencing == storage.Owner, SeparateClient: s.OwnClient}
}

// askCluster reads or writes an object in the cluster, through the lock's client library.
func (g *program) askCluster(ctx context.Context, req storage.Request) (storage.Response, error) {
	client := g.lock.(locks.DataClient) // checkClusterStorage has refused other locks
	ctx, cancel := g.withPatience(ctx)
	defer cancel()
	version, err := 0, error(nil)
	if req.Op == storage.Write {
		version, err = client.Write(ctx, req.Object, req.Value, req.KnownVersion)
	} else {
		version, err = client.Read(ctx, req.Object)
	}
	switch {
	case g.ctx.Err() != nil:
		return storage.Response{}, errEnded
	case errors.Is(err, locks.ErrChanged), errors.Is(err, locks.ErrGone):
		return storage.Response{Version: req.KnownVersion, Refused: err.Error()}, nil
	case err != nil && ctx.Err() != nil:
		return storage.Response{}, fmt.Errorf("%w within %v", errGaveUp, g.cfg.GivesUp)
	case err != nil:
		return storage.Response{}, err
	}
	return responseFor(req, version), nil
}

// recordClusterData records the final data of the objects in the cluster, at the end of the
// run.
func (w *World) recordClusterData() {
	for _, p := range w.processes {
		h := p.host()
		if h == nil {
			continue
		}
		if s, ok := h.server.(DataServer); ok {
			record := h.RecordEvent
			if !h.system.Cluster {
				record = h.Emit
			}
			for _, o := range w.cfg.objects() {
				version, value := s.Kept(h.system.KeyOf(locks.DataKey(o)))
				record(trace.Event{Kind: trace.KindObject, Object: o, Version: version, Value: value})
			}
			return
		}
	}
}

// checkClusterStorage returns an error if the cluster of this lock cannot keep the data.
func (cfg *Config) checkClusterStorage() error {
	s, kind := cfg.Storage, cfg.Lock.Kind
	system, known := LookupSystem(kind.System)
	if !known && kind.System != "" {
		return nil // this program lacks the lock's servers; a program that has them checks it
	}
	usesServicesOrMarks := func(c Client) bool {
		return slices.ContainsFunc(c.Does, func(t trace.Task) bool { return len(t.Via) > 0 || t.Step == trace.Mark })
	}
	switch {
	case len(system.Reads) == 0 || !kind.HasDataClient:
		return errors.New("the storage is in the cluster that keeps the lock, but the servers of the lock keep no data")
	case s.Fencing == storage.Owner && !kind.ChecksOwner:
		return fmt.Errorf("a storage in a cluster with the policy %s needs a lock whose client checks that its key still exists, and this lock's client does not", s.Fencing)
	case !slices.Contains([]storage.Policy{"", storage.None, storage.Optimistic, storage.Owner}, s.Fencing):
		return fmt.Errorf("a storage in a cluster cannot check the policy %s: with its own transactions it can check %s and %s", s.Fencing, storage.Optimistic, storage.Owner)
	case s.Reads != "" && !slices.Contains(system.Reads, s.Reads):
		return fmt.Errorf("data in %s cannot be read %s: reads are %s", system.Name, s.Reads, strings.Join(system.Reads, " or "))
	case s.CopyLag != 0:
		return errors.New("a storage in a cluster has no copy that lags behind: it has members")
	case len(cfg.Services) > 0 || slices.ContainsFunc(cfg.Clients, usesServicesOrMarks):
		return errors.New("a storage in a cluster is read and written by the lock's own client: leave out services, and the step mark, which puts the token on an object")
	}
	return nil
}
