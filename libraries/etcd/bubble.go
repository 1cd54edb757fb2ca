package etcd

import (
	_ "unsafe" // for go:linkname

	_ "go.etcd.io/etcd/client/v3"
)

// The client's watches hang on a context whose Done is this channel, which nobody ever
// closes. It is made when the program starts, and so belongs to no world: a goroutine that
// waits for it would not count as waiting, and time would stop at the first watch. A nil
// channel is as silent, and belongs to every world.
//
//go:linkname valCtxCh go.etcd.io/etcd/client/v3.valCtxCh
var valCtxCh chan struct{}

func init() { valCtxCh = nil }
