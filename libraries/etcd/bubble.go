package etcd

import (
	_ "unsafe" // for go:linkname

	_ "go.etcd.io/etcd/client/v3"
)

// The client's watches depend on a context whose Done is this channel, which nobody ever closes.
// The channel is made when the program starts, and so belongs to no world, which is a simulation in
// a bubble of package synctest. Package synctest would not count a goroutine that waits for it as
// blocked, and virtual time would stop at the first watch. A nil channel also blocks forever, and
// synctest counts a goroutine that waits for it as blocked.
//
//go:linkname valCtxCh go.etcd.io/etcd/client/v3.valCtxCh
var valCtxCh chan struct{}

func init() { valCtxCh = nil }
