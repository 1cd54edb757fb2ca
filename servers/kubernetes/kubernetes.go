// Package kubernetes simulates an API server of Kubernetes, as far as leader election needs
// one. It serves Leases, objects of coordination.k8s.io/v1, which clients read, create,
// update and delete. An update succeeds only for a client that has seen the latest version.
//
// It answers as the code of k8s.io/apiserver (v0.37) does: the registry's Store, in
// pkg/registry/generic/registry/store.go, with the strategy for Leases in
// pkg/registry/coordination/lease/strategy.go of k8s.io/kubernetes, and the errors of
// k8s.io/apimachinery/pkg/api/errors. It has not been compared with a real server.
//
// It differs from a real one in this: it speaks HTTP/1.1 without TLS, where a real one
// prefers HTTP/2, and only JSON; every client has all rights; every namespace exists; and
// it does not maintain managedFields. It has only one process: what it has answered is in
// the etcd behind it, which no fault strikes.
package kubernetes

import (
	"net/http"

	"github.com/locksim/locksim/internal/http1"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// largestBody is MaxRequestBodyBytes of a generic API server, in bytes.
const largestBody = 3 << 20

// failure is etcd's error when it cannot reach a majority of its members, which the API
// server passes on.
const failure = "etcdserver: request timed out"

// Always means that each change is in etcd before it is acknowledged.
const Always sim.Persistence = "always"

func init() {
	sim.RegisterSystem(sim.System{
		Name:            locks.Kubernetes,
		Title:           "Kubernetes",
		Node:            "API server of Kubernetes",
		Port:            6443,
		Key:             locks.KubernetesLease,
		UsesElapsedTime: true,
		Disks:           []sim.Disk{{Persistence: Always, Keeps: []trace.Crash{trace.Shutdown, trace.Kill, trace.PowerLoss}}},
		Failure:         failure,
		Revokes:         true,
		Framer: func(names *sim.Names) sim.Framer {
			return &http1.Framer{LargestBody: largestBody, Describe: func(r *http1.Request, f *sim.Frame) { describe(names, r, f) }}
		},
		Boot: boot,
	})
}

// A node is an API server. Nothing expires by its clock, and after a crash it finds
// everything in etcd.
type node struct {
	*http1.Server
	host   *sim.Host
	leases *leases
}

func boot(host *sim.Host) sim.Server {
	n := &node{host: host, leases: &leases{host: host, random: host.Random(), stored: map[string]*storedLease{}}}
	n.Server = http1.NewServer(host, n.serve)
	return n
}

// Crash loses the requests that have not been answered.
func (n *node) Crash(trace.Crash) { n.Server.Crash() }

// serve answers a request.
func (n *node) serve(call *http1.Call) {
	var a http1.Answer
	if why := n.host.Failure(); why != "" {
		a = status{Code: http.StatusInternalServerError, Message: why}.answer()
	} else {
		a = n.answer(call)
	}
	call.Answer(a)
}
