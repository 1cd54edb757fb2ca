package etcd

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/locksim/locksim/locks"
	servers "github.com/locksim/locksim/servers/etcd"
)

// data is the data that a process keeps in etcd in addition to its lock, one key for each
// object.
type data struct {
	locks.Data
	kv clientv3.KV
	// ownerCondition is the condition of each write, if writes have one: that the key of
	// the handle's last grant still exists. See [grant].
	ownerCondition clientv3.Cmp
}

// newData returns access to the process's data. It uses the client of the lock or, if the world
// (the simulation) says so, a separate one. It returns nil if the world keeps no data in etcd.
func newData(e *locks.Env, client *clientv3.Client) (*data, error) {
	if e.Data == nil {
		return nil, nil
	}
	d := &data{Data: *e.Data, kv: client}
	if d.SeparateClient {
		separate, err := memberClient(e, trailingNumber(e.Client)+1)
		if err != nil {
			return nil, err
		}
		d.kv = separate
		// The separate client connects before the run begins, like a client in a process
		// that has been running for a while.
		e.OnWarmUp(func(ctx context.Context) { _, _ = d.kv.Get(ctx, locks.DataKey("")) })
	}
	return d, nil
}

// Read implements [locks.DataClient].
func (d *data) Read(ctx context.Context, object string) (version int, err error) {
	var options []clientv3.OpOption
	if d.ReadMode == servers.Serializable {
		options = append(options, clientv3.WithSerializable())
	}
	r, err := d.kv.Get(ctx, locks.DataKey(object), options...)
	switch {
	case err != nil:
		return 0, requestError(ctx, "read", err)
	case len(r.Kvs) == 0:
		return 0, nil
	}
	return int(r.Kvs[0].Version), nil
}

// Write implements [locks.DataClient]. knownVersion is the version that the writer has
// read.
func (d *data) Write(ctx context.Context, object, value string, knownVersion int) (version int, err error) {
	key := locks.DataKey(object)
	if d.ChecksOwner {
		return d.writeAsOwner(ctx, key, value)
	}
	if !d.ComparesVersion {
		r, err := d.kv.Put(ctx, key, value, clientv3.WithPrevKV())
		if err != nil {
			return 0, requestError(ctx, "write", err)
		}
		return int(r.PrevKv.GetVersion()) + 1, nil
	}
	r, err := d.kv.Txn(ctx).
		If(clientv3.Compare(clientv3.Version(key), "=", knownVersion)).
		Then(clientv3.OpPut(key, value)).
		Commit()
	switch {
	case err != nil:
		return 0, requestError(ctx, "write", err)
	case !r.Succeeded:
		return 0, fmt.Errorf("etcd: %w", locks.ErrChanged)
	}
	return knownVersion + 1, nil
}

// writeAsOwner writes in a transaction, as the documentation of Mutex.IsOwner suggests:
// only if the handle still owns the lock.
func (d *data) writeAsOwner(ctx context.Context, key, value string) (version int, err error) {
	r, err := d.kv.Txn(ctx).If(d.ownerCondition).Then(clientv3.OpPut(key, value, clientv3.WithPrevKV())).Commit()
	switch {
	case err != nil:
		return 0, requestError(ctx, "write", err)
	case !r.Succeeded:
		return 0, fmt.Errorf("etcd: %w", locks.ErrGone)
	}
	return int(r.Responses[0].GetResponsePut().PrevKv.GetVersion()) + 1, nil
}
