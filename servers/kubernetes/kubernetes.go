// Package kubernetes is a simulated API server of Kubernetes, as far as leader election asks
// one: Leases, objects of coordination.k8s.io/v1, which are read, made, changed and deleted,
// each change only by who has seen the latest version.
//
// It answers as the code of k8s.io/apiserver says (v0.37): the registry's Store, in
// pkg/registry/generic/registry/store.go, with the strategy for Leases in
// pkg/registry/coordination/lease/strategy.go of k8s.io/kubernetes, and the errors of
// k8s.io/apimachinery/pkg/api/errors. No real one was asked.
//
// What differs: it speaks HTTP/1.1 without TLS, where a real one prefers HTTP/2, and JSON
// only; everybody may do everything; every namespace is there; and it does not say in
// managedFields who has set what. It has no more than one process: what it has answered is
// in the etcd behind it, which nothing in a world befalls.
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

// failure is what etcd says when most of its members cannot be reached, which the API server
// passes on.
const failure = "etcdserver: request timed out"

// Always has each change in etcd before it counts.
const Always sim.Persistence = "always"

func init() {
	sim.RegisterSystem(sim.System{
		Name:    locks.Kubernetes,
		Title:   "Kubernetes",
		Node:    "API server of Kubernetes",
		Port:    6443,
		Key:     locks.KubernetesLease,
		Elapsed: true,
		Disks:   []sim.Disk{{Persistence: Always, Keeps: []trace.Crash{trace.Shutdown, trace.Kill, trace.PowerLoss}}},
		Failure: failure,
		Revokes: true,
		Framer: func(names *sim.Names) sim.Framer {
			return &http1.Framer{LargestBody: largestBody, Tell: func(r *http1.Request, f *sim.Frame) { describe(names, r, f) }}
		},
		Boot: boot,
	})
}

// A node is an API server. Nothing ends by its clock, and after a crash it finds in etcd what there was.
type node struct {
	*http1.Server
	host   *sim.Host
	leases *leases
}

func boot(host *sim.Host) sim.Server {
	n := &node{host: host, leases: &leases{host: host, random: host.Random(), kept: map[string]*kept{}}}
	n.Server = http1.NewServer(host, n.serve)
	return n
}

// Crash loses what has no answer yet.
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
