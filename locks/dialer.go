package locks

import (
	"context"
	"net"
)

// Dialer returns a function that opens connections to one node, counted from 0; the function
// ignores the address that it is given. The function returns without having dialled: the connection
// dials when it is first used, in the request that needs it and under that request's deadline. So a
// failed dial shows as an error of the first write or read.
func (e *Env) Dialer(node int) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return e.dialer(e.Nodes[node])
}

// dialer is Dialer for a node with the given address.
func (e *Env) dialer(addr string) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		return newConnection(e.Clock, func(ctx context.Context) (net.Conn, error) {
			return e.Dial(ctx, "tcp", addr)
		}), nil
	}
}
