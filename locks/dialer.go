package locks

import (
	"context"
	"net"
)

// Dialer opens connections to a node, counted from 0, whatever address it is
// given. A connection is made when it is first used, in the request that needs it
// and under its deadline, so that an error of the dial is one of that write or
// read.
func (e *Env) Dialer(node int) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return e.dialer(e.Nodes[node])
}

func (e *Env) dialer(addr string) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		return newConnection(e.Clock, func(ctx context.Context) (net.Conn, error) {
			return e.Dial(ctx, "tcp", addr)
		}), nil
	}
}
