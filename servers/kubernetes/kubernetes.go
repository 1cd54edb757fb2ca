// Package kubernetes simulates an API server of Kubernetes, as far as leader election needs
// one. It serves Leases, which are objects of coordination.k8s.io/v1. Clients read, create,
// update and delete them. An update succeeds only if the client has read the latest version
// of the Lease.
//
// It answers as the code of k8s.io/apiserver (v0.37) does: the registry's Store, in
// pkg/registry/generic/registry/store.go, with the strategy for Leases in
// pkg/registry/coordination/lease/strategy.go of k8s.io/kubernetes, and the errors of
// k8s.io/apimachinery/pkg/api/errors. It has not been compared with a real server.
//
// It differs from a real one in these points. It speaks HTTP/1.1 without TLS, where a real
// one prefers HTTP/2, and only JSON. Every client has all rights, and every namespace
// exists. It does not maintain managedFields. It is a single process, and what it has
// answered is in the etcd behind it, which no fault strikes.
package kubernetes

import (
	"net/http"

	"github.com/locksim/locksim/internal/http1"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// largestBody is the maximum length of a request's body, in bytes: MaxRequestBodyBytes of a
// generic API server.
const largestBody = 3 << 20

// errEtcdTimeout is the answer while a fault [sim.Fail] acts: the error of an etcd that cannot
// reach a majority of its members, which an API server passes on.
const errEtcdTimeout = "etcdserver: request timed out"

// Always means that each change is in etcd before it is acknowledged.
const Always sim.Persistence = "always"

func init() {
	sim.RegisterSystem(sim.System{
		Name:            locks.Kubernetes,
		Title:           "Kubernetes",
		Node:            "API server of Kubernetes",
		UsuallyRun:      "3 control-plane nodes", // https://kubernetes.io/docs/setup/production-environment/tools/kubeadm/high-availability
		Port:            6443,
		Key:             locks.KubernetesLease,
		UsesElapsedTime: true,
		Disks:           []sim.Disk{{Persistence: Always, Keeps: []trace.Crash{trace.Shutdown, trace.Kill, trace.PowerLoss}}},
		Failure:         errEtcdTimeout,
		Revokes:         true,
		Framer: func(names *sim.Names) sim.Framer {
			return &http1.Framer{LargestBody: largestBody, Describe: func(r *http1.Request, f *sim.Frame) { describe(names, r, f) }}
		},
		Boot: boot,
	})
}

// A node is a simulated API server. It ends no Lease by its own clock, and a crash loses nothing,
// because all Leases are in etcd.
type node struct {
	*http1.Server
	host   *sim.Host
	leases *leases
}

// boot makes an API server without any Leases: the Boot of [sim.System].
func boot(host *sim.Host) sim.Server {
	n := &node{host: host, leases: &leases{host: host, random: host.Random(), stored: map[string]*storedLease{}}}
	n.Server = http1.NewServer(host, n.serve)
	return n
}

// Crash implements [sim.Server]. Requests that have not been answered are lost.
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
