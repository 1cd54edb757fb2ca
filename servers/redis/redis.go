package redis

import (
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

func init() {
	sim.RegisterSystem(sim.System{
		Name:  locks.Redis,
		Title: "Redis, simulated by miniredis",
		Node:  "Redis node",
		Port:  6379,
		Disks: []sim.Disk{
			// For the consequences of a stalled disk see flushAppendOnlyFile and
			// rdbSaveBackground of Redis.
			{Persistence: sim.NoPersistence, StallAdvice: "nobody notices"},
			{Persistence: Snapshots, Keeps: []trace.Crash{trace.Shutdown}, StallAdvice: "a child process waits for the disk, and the node continues"},
			{Persistence: Everysec, Keeps: []trace.Crash{trace.Shutdown, trace.Kill}, HandlesStall: true},
			{Persistence: Always, Keeps: []trace.Crash{trace.Shutdown, trace.Kill, trace.PowerLoss}, StallAdvice: "the node stops at its next write and serves no client, so use a pause of the node instead"},
		},
		Replicates: true,
		Demotes:    true,
		Revokes:    true,
		Settings: []sim.Setting{
			{Name: minReplicas, Title: "a master accepts a write only if it has heard recently from this many replicas; 0 turns this off", Check: checkCount},
			{Name: maxLag, Title: "what counts as recently: at most this long ago, such as 10s, the default", Check: checkLag},
		},
		Failure: errLoading,
		IdleCheckGap: func() string {
			if locks.ChecksIdle() {
				return ""
			}
			return IdleCheckGap
		},
		Manners: map[string][]sim.Manner{"fail": {{
			Value: errOOM, Slug: "out-of-memory",
			Phrases: trace.Phrases{Subject: "{target}", Predicate: "answers every command that it is out of memory{lasting}", Noun: "{target} answering that it is out of memory"},
		}}},
		Framer:  func(names *sim.Names) sim.Framer { return &framer{names: names} },
		Prepare: instances.prepare,
		Boot:    newNode,
	})
}

// The values of a node's persistence: what it writes to its disk, and when. Another value is
// [sim.NoPersistence].
const (
	// Snapshots is Redis's default: the whole data set, an hour after one change, five
	// minutes after 100 or one minute after 10,000, and at a clean shutdown.
	Snapshots sim.Persistence = "snapshots"
	// Everysec appends every command to a file before it is answered. The operating system
	// writes the file to the disk in the background: immediately, unless it did so less
	// than a second ago, and then as soon as that second has passed. During that write,
	// appended data waits in the server's memory, for up to two seconds.
	Everysec sim.Persistence = "everysec"
	// Always writes it to the disk before each answer.
	Always sim.Persistence = "always"
)

// IdleCheckGap describes a build whose go-redis does not check idle connections: see
// [locks.ChecksIdle].
const IdleCheckGap = "in this build, go-redis does not check an idle connection before it uses it; on Linux it does, and the result there may differ"

// errLoading is Redis's answer while it reads its data from the disk: shared.loadingerr in
// https://github.com/redis/redis/blob/unstable/src/server.c
const errLoading = "LOADING Redis is loading the dataset in memory"

// errOOM is Redis's answer when its memory is full: shared.oomerr in the same file. Unlike
// after LOADING, go-redis does not send a command again after it (shouldRetry in its
// error.go).
const errOOM = "OOM command not allowed when used memory > 'maxmemory'."
