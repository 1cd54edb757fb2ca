package locks

import (
	"context"
	"net"
)

// Dialer returns a function that opens connections to a node, counted from 0, whatever
// address it is given. A connection dials when it is first used, in the request that needs
// it and under that request's deadline. So an error of the dial is an error of that write
// or read.
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
