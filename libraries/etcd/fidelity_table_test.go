package etcd_test

// fidelities are the scripts, which cover what locks depend on. The answers are those of
// etcd 3.7.3. Debian's 3.4.23 gives the same answers, except where a script says otherwise.
var fidelities = []fidelity{
	{name: "revisions and versions", script: `
		get a        => rev 1, count 0
		put a 1      => rev 2
		get a        => rev 2, count 1, a=1 (c2 m2 v1)
		put a 2      => rev 3
		put b 1      => rev 4
		get a        => rev 4, count 1, a=2 (c2 m3 v2)
		get a rev=2  => rev 4, count 1, a=1 (c2 m2 v1)
		get a rev=1  => rev 4, count 0
		get a rev=5  => OutOfRange: etcdserver: mvcc: required revision is a future revision
		get a rev=-1 => rev 4, count 1, a=2 (c2 m3 v2)
		del a        => rev 5, deleted 1
		del a        => rev 5, deleted 0
		get a        => rev 5, count 0
		get a rev=4  => rev 5, count 1, a=2 (c2 m3 v2)
		put a 3      => rev 6
		get a        => rev 6, count 1, a=3 (c6 m6 v1)`},

	{name: "put", script: `
		put a 1 prev               => rev 2
		put a 2 prev               => rev 3, was a=1 (c2 m2 v1)
		put a ignore-value         => rev 4
		get a                      => rev 4, count 1, a=2 (c2 m4 v3)
		put b ignore-value         => InvalidArgument: etcdserver: key not found
		put b 1 ignore-lease       => InvalidArgument: etcdserver: key not found
		put '' 1                   => InvalidArgument: etcdserver: key is not provided
		put c 1 lease=unknown      => NotFound: etcdserver: requested lease not found
		grant L1 60                => ttl 60, rev 4
		put c 1 lease=L1           => rev 5
		put c 2 ignore-lease       => rev 6
		get c                      => rev 6, count 1, c=2 (c5 m6 v2 L1)
		put c 3                    => rev 7
		get c                      => rev 7, count 1, c=3 (c5 m7 v3)
		ttl L1 keys                => ttl 59 of 60, rev 7
		get ''                     => InvalidArgument: etcdserver: key is not provided
		del ''                     => InvalidArgument: etcdserver: key is not provided`},

	{name: "ranges", script: `
		put b 3                        => rev 2
		put a/2 1                      => rev 3
		put a/1 2                      => rev 4
		put a/2 4                      => rev 5
		get a/ prefix                  => rev 5, count 2, a/1=2 (c4 m4 v1), a/2=4 (c3 m5 v2)
		get a to=b                     => rev 5, count 2, a/1=2 (c4 m4 v1), a/2=4 (c3 m5 v2)
		get a/2 from                   => rev 5, count 2, a/2=4 (c3 m5 v2), b=3 (c2 m2 v1)
		get '' prefix                  => rev 5, count 3, a/1=2 (c4 m4 v1), a/2=4 (c3 m5 v2), b=3 (c2 m2 v1)
		get b to=a                     => rev 5, count 0
		get a/ prefix limit=1          => rev 5, count 2, more, a/1=2 (c4 m4 v1)
		get a/ prefix limit=2          => rev 5, count 2, a/1=2 (c4 m4 v1), a/2=4 (c3 m5 v2)
		get a/ prefix keys             => rev 5, count 2, a/1= (c4 m4 v1), a/2= (c3 m5 v2)
		get a/ prefix count            => rev 5, count 2
		get a/ prefix serializable     => rev 5, count 2, a/1=2 (c4 m4 v1), a/2=4 (c3 m5 v2)
		get a/ prefix by=create        => rev 5, count 2, a/2=4 (c3 m5 v2), a/1=2 (c4 m4 v1)
		get a/ prefix by=create-down   => rev 5, count 2, a/1=2 (c4 m4 v1), a/2=4 (c3 m5 v2)
		get a/ prefix by=mod           => rev 5, count 2, a/1=2 (c4 m4 v1), a/2=4 (c3 m5 v2)
		get a/ prefix by=mod-down      => rev 5, count 2, a/2=4 (c3 m5 v2), a/1=2 (c4 m4 v1)
		get a/ prefix by=version-down  => rev 5, count 2, a/2=4 (c3 m5 v2), a/1=2 (c4 m4 v1)
		get '' prefix by=value         => rev 5, count 3, a/1=2 (c4 m4 v1), b=3 (c2 m2 v1), a/2=4 (c3 m5 v2)
		get '' prefix by=key-down      => rev 5, count 3, b=3 (c2 m2 v1), a/2=4 (c3 m5 v2), a/1=2 (c4 m4 v1)
		get a/ prefix by=create limit=1           => rev 5, count 2, more, a/2=4 (c3 m5 v2)
		get a/ prefix max-create=3                => rev 5, count 2, a/2=4 (c3 m5 v2)
		get a/ prefix max-create=2                => rev 5, count 2
		get a/ prefix min-create=4                => rev 5, count 2, a/1=2 (c4 m4 v1)
		get a/ prefix min-mod=5                   => rev 5, count 2, a/2=4 (c3 m5 v2)
		get a/ prefix max-mod=4                   => rev 5, count 2, a/1=2 (c4 m4 v1)
		get a/ prefix by=create-down limit=1 max-create=3  => rev 5, count 2, a/2=4 (c3 m5 v2)
		get a/ prefix rev=4 by=mod                => rev 5, count 2, a/2=1 (c3 m3 v1), a/1=2 (c4 m4 v1)
		del a/ prefix prev             => rev 6, deleted 2, was a/1=2 (c4 m4 v1), was a/2=4 (c3 m5 v2)
		get '' prefix                  => rev 6, count 1, b=3 (c2 m2 v1)`},

	{name: "transactions", script: `
		txn create(a)=0 ? put a 1 , get a : get a            => rev 2, true, [rev 2], [rev 2, count 1, a=1 (c2 m2 v1)]
		txn create(a)=0 ? put a 2 , get a : get a            => rev 2, false, [rev 2, count 1, a=1 (c2 m2 v1)]
		txn create(a)=2 ? put a 2 :                          => rev 3, true, [rev 3]
		txn mod(a)=3 & version(a)=2 ? get a :                => rev 3, true, [rev 3, count 1, a=2 (c2 m3 v2)]
		txn mod(a)=3 & version(a)=1 ? get a :                => rev 3, false
		txn value(a)=2 ? get a :                             => rev 3, true, [rev 3, count 1, a=2 (c2 m3 v2)]
		txn value(a)>1 ? get a :                             => rev 3, true, [rev 3, count 1, a=2 (c2 m3 v2)]
		txn value(a)<1 ? get a :                             => rev 3, false
		txn value(a)!=1 ? get a :                            => rev 3, true, [rev 3, count 1, a=2 (c2 m3 v2)]
		txn create(b)=0 & mod(b)=0 & version(b)=0 ? get a :  => rev 3, true, [rev 3, count 1, a=2 (c2 m3 v2)]
		txn value(b)=x ? get a :                             => rev 3, false
		txn value(b)!=x ? get a :                            => rev 3, false
		txn lease(a)=0 ? get a :                             => rev 3, true, [rev 3, count 1, a=2 (c2 m3 v2)]
		txn lease(b)=0 ? get a :                             => rev 3, true, [rev 3, count 1, a=2 (c2 m3 v2)]
		txn ? put a 3 , put b 1 :                            => rev 4, true, [rev 4], [rev 4]
		get '' prefix                                        => rev 4, count 2, a=3 (c2 m4 v3), b=1 (c4 m4 v1)
		txn create(a*)>0 ? get a :                           => rev 4, true, [rev 4, count 1, a=3 (c2 m4 v3)]
		txn create(x*)>0 ? get a :                           => rev 4, false
		txn ? put c 1 , del c :                              => InvalidArgument: etcdserver: duplicate key given in txn request
		txn ? put c 1 , put c 2 :                            => InvalidArgument: etcdserver: duplicate key given in txn request
		txn ? del b , put c 1 , get '' prefix :              => rev 5, true, [rev 5, deleted 1], [rev 5], [rev 5, count 2, a=3 (c2 m4 v3), c=1 (c5 m5 v1)]
		txn ? del b :                                        => rev 5, true, [rev 5, deleted 0]
		txn ? get a , put a 4 , get a :                      => rev 6, true, [rev 5, count 1, a=3 (c2 m4 v3)], [rev 6], [rev 6, count 1, a=4 (c2 m6 v4)]
		txn ? put a 5 lease=unknown :                        => NotFound: etcdserver: requested lease not found
		txn ? put d 1 , get a rev=99 :                       => OutOfRange: etcdserver: mvcc: required revision is a future revision
		txn ? :                                              => rev 6, true
		get d                                                => rev 6, count 0`},

	{name: "leases", script: `
		grant L1 60         => ttl 60, rev 1
		grant L2 1          => ttl 2, rev 1
		grant L3 0          => ttl 2, rev 1
		grant L3 9000000001 => OutOfRange: etcdserver: too large lease TTL
		grant L4 60 id=1234 => ttl 60, rev 1
		grant L5 60 id=1234 => FailedPrecondition: etcdserver: lease already exists
		ttl L1              => ttl 59 of 60, rev 1
		ttl unknown         => ttl -1 of 0, rev 1
		keep-alive L1       => ttl 60, rev 1
		keep-alive unknown  => NotFound: etcdserver: requested lease not found
		revoke unknown      => NotFound: etcdserver: requested lease not found
		put a 1 lease=L1    => rev 2
		put c 1 lease=L1    => rev 3
		put b 1 lease=L1    => rev 4
		ttl L1 keys         => ttl 59 of 60, rev 4, a, b, c
		revoke L1           => rev 5
		revoke L1           => NotFound: etcdserver: requested lease not found
		ttl L1 keys         => ttl -1 of 0, rev 5
		get '' prefix       => rev 5, count 0
		put a 1 lease=L1    => NotFound: etcdserver: requested lease not found`},

	{name: "the keys of a revoked lease are deleted in the order of their names", script: `
		grant L1 60             => ttl 60, rev 1
		put c 1 lease=L1        => rev 2
		put a 1 lease=L1        => rev 3
		put b 1 lease=L1        => rev 4
		put d 1                 => rev 5
		watch W a to=z rev=2    =>
		next W                  => rev 5, PUT c=1 (c2 m2 v1 L1), PUT a=1 (c3 m3 v1 L1), PUT b=1 (c4 m4 v1 L1), PUT d=1 (c5 m5 v1)
		revoke L1               => rev 6
		next W                  => rev 6, DELETE a= (c0 m6 v0), DELETE b= (c0 m6 v0), DELETE c= (c0 m6 v0)
		next W                  => nothing`},

	{name: "a key is attached only to the lease of its last put", script: `
		grant L1 60       => ttl 60, rev 1
		grant L2 60       => ttl 60, rev 1
		put a 1 lease=L1  => rev 2
		put a 2 lease=L2  => rev 3
		ttl L1 keys       => ttl 59 of 60, rev 3
		ttl L2 keys       => ttl 59 of 60, rev 3, a
		revoke L1         => rev 3
		get a             => rev 3, count 1, a=2 (c2 m3 v2 L2)
		del a             => rev 4, deleted 1
		ttl L2 keys       => ttl 59 of 60, rev 4
		revoke L2         => rev 4
		leases            => leases`},

	{name: "a lease expires", script: `
		grant L1 2        => ttl 2, rev 1
		put a 1 lease=L1  => rev 2
		pass 1500ms
		keep-alive L1     => ttl 2, rev 2
		pass 1700ms
		get a             => rev 2, count 1, a=1 (c2 m2 v1 L1)
		ttl L1            => ttl 0 of 2, rev 2
		pass 2s
		get a             => rev 3, count 0
		ttl L1            => ttl -1 of 0, rev 3
		keep-alive L1     => NotFound: etcdserver: requested lease not found
		revoke L1         => NotFound: etcdserver: requested lease not found
		put a 1 lease=L1  => NotFound: etcdserver: requested lease not found
		leases            => leases`},

	{name: "two leases expire one after the other", script: `
		grant L1 3           => ttl 3, rev 1
		grant L2 2           => ttl 2, rev 1
		leases               => leases L2 L1
		put a 1 lease=L1     => rev 2
		put b 1 lease=L2     => rev 3
		watch W a to=z       =>
		pass 5s
		next W               => rev 4, DELETE b= (c0 m4 v0)
		next W               => rev 5, DELETE a= (c0 m5 v0)
		get a                => rev 5, count 0`},

	{name: "watches", script: `
		put a 1                   => rev 2
		watch W1 a                =>
		watch W2 a rev=2 prev     =>
		watch W3 a created        =>
		watch W4 a rev=9          =>
		watch W5 b prefix no-put  =>
		watch W6 b prefix no-delete =>
		next W1                   => nothing
		next W2                   => rev 2, PUT a=1 (c2 m2 v1)
		next W3                   => rev 2, created
		put a 2                   => rev 3
		next W1                   => rev 3, PUT a=2 (c2 m3 v2)
		next W2                   => rev 3, PUT a=2 (c2 m3 v2) was a=1 (c2 m2 v1)
		next W3                   => rev 3, PUT a=2 (c2 m3 v2)
		del a                     => rev 4, deleted 1
		next W1                   => rev 4, DELETE a= (c0 m4 v0)
		next W2                   => rev 4, DELETE a= (c0 m4 v0) was a=2 (c2 m3 v2)
		put b1 1                  => rev 5
		del b1                    => rev 6, deleted 1
		next W1                   => nothing
		next W5                   => rev 6, DELETE b1= (c0 m6 v0)
		next W6                   => rev 5, PUT b1=1 (c5 m5 v1)
		next W6                   => nothing
		txn ? put b2 1 , put b3 1 : => rev 7, true, [rev 7], [rev 7]
		next W6                   => rev 7, PUT b2=1 (c7 m7 v1), PUT b3=1 (c7 m7 v1)
		put a 3                   => rev 8
		put a 4                   => rev 9
		next W4                   => rev 9, PUT a=4 (c8 m9 v2)
		cancel W1                 =>
		next W1                   => rev 8, PUT a=3 (c8 m8 v1)`},

	{name: "a watch is cancelled", script: `
		watch W a  =>
		cancel W   =>
		next W     => closed`},

	{name: "a watch begins at an old revision", script: `
		put a 1          => rev 2
		put a 2          => rev 3
		del a            => rev 4, deleted 1
		put b 1          => rev 5
		put a 3          => rev 6
		watch W1 a rev=1 =>
		next W1          => rev 6, PUT a=1 (c2 m2 v1), PUT a=2 (c2 m3 v2), DELETE a= (c0 m4 v0), PUT a=3 (c6 m6 v1)
		watch W2 a rev=4 =>
		next W2          => rev 6, DELETE a= (c0 m4 v0), PUT a=3 (c6 m6 v1)
		watch W3 a rev=7 =>
		next W3          => nothing
		put a 4          => rev 7
		next W3          => rev 7, PUT a=4 (c6 m7 v2)`},

	{name: "progress of a watch", script: `
		watch W a     =>
		put b 1       => rev 2
		next W        => nothing
		progress W    =>
		next W        => rev 2, progress
		put a 1       => rev 3
		next W        => rev 3, PUT a=1 (c3 m3 v1)
		progress W    =>
		next W        => rev 3, progress`},

	{name: "compaction", script: `
		put a 1          => rev 2
		put a 2          => rev 3
		put a 3          => rev 4
		del b            => rev 4, deleted 0
		compact 5        => OutOfRange: etcdserver: mvcc: required revision is a future revision
		compact 3        => rev 4
		compact 3        => OutOfRange: etcdserver: mvcc: required revision has been compacted
		compact 2        => OutOfRange: etcdserver: mvcc: required revision has been compacted
		get a            => rev 4, count 1, a=3 (c2 m4 v3)
		get a rev=3      => rev 4, count 1, a=2 (c2 m3 v2)
		get a rev=2      => OutOfRange: etcdserver: mvcc: required revision has been compacted
		watch W1 a rev=2 =>
		next W1          => rev 0, cancelled, compacted at 3, OutOfRange: etcdserver: mvcc: required revision has been compacted
		next W1          => closed
		watch W2 a rev=3 =>
		next W2          => rev 4, PUT a=2 (c2 m3 v2), PUT a=3 (c2 m4 v3)
		put a 4          => rev 5
		compact 5        => rev 5
		next W2          => rev 5, PUT a=4 (c2 m5 v4)
		get a            => rev 5, count 1, a=4 (c2 m5 v4)
		txn create(a)=2 ? get a rev=4 :  => OutOfRange: etcdserver: mvcc: required revision has been compacted`},

	{name: "a compaction removes deleted keys", script: `
		put a 1          => rev 2
		del a            => rev 3, deleted 1
		put b 1          => rev 4
		compact 4        => rev 4
		get a            => rev 4, count 0
		put a 2          => rev 5
		get a            => rev 5, count 1, a=2 (c5 m5 v1)`},

	{name: "status", script: `
		put a 1  => rev 2
		status   => rev 2, leader true, learner false, errors []`},

	{name: "a mutex", script: `
		session L1 60          =>
		session L2 60          =>
		lock L1 res            => res/L1 made in 2, got in 2
		lock L1 res            => res/L1 made in 2, got in 2
		owner L1               => true
		get res prefix         => rev 2, count 1, res/L1= (c2 m2 v1 L1)
		trylock L2 res         => mutex: Locked by another session
		get res prefix         => rev 4, count 1, res/L1= (c2 m2 v1 L1)
		lock L2 res for 200ms  => context deadline exceeded
		get res prefix         => rev 6, count 1, res/L1= (c2 m2 v1 L1)
		unlock L1              =>
		unlock L1              => mutex: lock has already been released
		owner L1               => false
		lock L2 res            => res/L2 made in 8, got in 8
		end L2                 =>
		owner L2               => false
		lock L2 res            => NotFound: etcdserver: requested lease not found
		get res prefix         => rev 9, count 0`},

	{name: "the session of a mutex's holder expires while a client waits", script: `
		session L1 2           =>
		session L2 60          =>
		lock L1 res            => res/L1 made in 2, got in 2
		put x 1                => rev 3
		orphan L1              =>
		lost L1                => true
		lock L2 res            => res/L2 made in 4, got in 5
		owner L1               => false
		owner L2               => true`},

	{name: "a session renews its lease until the lease is revoked", script: `
		session L1 2     =>
		lock L1 res      => res/L1 made in 2, got in 2
		pass 5s
		owner L1         => true
		lost L1          => false
		revoke L1        => rev 3
		pass 2s
		lost L1          => true`},

	{name: "an election", script: `
		session L1 60              =>
		session L2 60              =>
		leader L1 job              => election: no leader
		campaign L1 job one        => job/L1 made in 2, got in 2
		leader L2 job              => job/L1=one (c2 m2 v1 L1)
		campaign L2 job two for 200ms => context deadline exceeded
		leader L2 job              => job/L1=one (c2 m2 v1 L1)
		proclaim L1 uno            => rev 5
		leader L2 job              => job/L1=uno (c2 m5 v2 L1)
		campaign L1 job one        => job/L1 made in 2, got in 5
		leader L2 job              => job/L1=one (c2 m6 v3 L1)
		resign L1                  =>
		proclaim L1 uno            => election: not leader
		campaign L2 job two        => job/L2 made in 8, got in 8
		revoke L2                  => rev 9
		proclaim L2 dos            => election: not leader
		leader L1 job              => election: no leader`},

	{name: "empty, open and limited ranges", script: `
		put a 1                    => rev 2
		put b 2                    => rev 3
		put c 3                    => rev 4
		get a to=a                 => rev 4, count 0
		get b to=a                 => rev 4, count 0
		get a to=c                 => rev 4, count 2, a=1 (c2 m2 v1), b=2 (c3 m3 v1)
		get '' from                => rev 4, count 3, a=1 (c2 m2 v1), b=2 (c3 m3 v1), c=3 (c4 m4 v1)
		get b from limit=1         => rev 4, count 2, more, b=2 (c3 m3 v1)
		get b from limit=-1        => rev 4, count 2, b=2 (c3 m3 v1), c=3 (c4 m4 v1)
		get a from keys count      => rev 4, count 3
		get a from count limit=1   => rev 4, count 3
		get a from rev=2           => rev 4, count 1, a=1 (c2 m2 v1)
		get x                      => rev 4, count 0
		get x from                 => rev 4, count 0
		del b from                 => rev 5, deleted 2
		del '' from prev           => rev 6, deleted 1, was a=1 (c2 m2 v1)
		del '' prefix              => rev 6, deleted 0`},

	{name: "options and operations that exclude each other", script: `
		put a 1                              => rev 2
		put a 2 ignore-value                 => InvalidArgument: etcdserver: value is provided
		grant L1 60                          => ttl 60, rev 2
		put a 2 lease=L1 ignore-lease        => InvalidArgument: etcdserver: lease is provided
		put a ignore-value ignore-lease      => rev 3
		txn ? put a1 1 , del a prefix :      => InvalidArgument: etcdserver: duplicate key given in txn request
		txn ? del a prefix , put a1 1 :      => InvalidArgument: etcdserver: duplicate key given in txn request
		txn ? del a prefix , del a :         => rev 4, true, [rev 4, deleted 1], [rev 4, deleted 0]
		txn ? get a : put a 1 , put a 2      => InvalidArgument: etcdserver: duplicate key given in txn request
		txn create(x)=1 ? put a 1 : put a 2  => rev 5, false, [rev 5]
		txn ? put '' 1 :                     => InvalidArgument: etcdserver: key is not provided
		txn ? put a ignore-value , put b ignore-value : => InvalidArgument: etcdserver: key not found
		txn ? get b rev=99 : put c 1         => OutOfRange: etcdserver: mvcc: required revision is a future revision`},

	{name: "requests that are too large", script: `
		puts 128       => rev 2
		puts 129       => InvalidArgument: etcdserver: too many operations in txn request
		large 1500000  => rev 3
		large 1600000  => InvalidArgument: etcdserver: request is too large
		large 2200000  => ResourceExhausted: trying to send message larger than max (2200012 vs. 2097152)`},

	{name: "extreme TTLs, and keys that leave their lease", script: `
		grant L1 -5          => ttl 2, rev 1
		grant L2 9000000000  => ttl 9000000000, rev 1
		ttl L2               => ttl 8999999999 of 9000000000, rev 1
		grant L3 60 id=abc7     => ttl 60, rev 1
		put a 1 lease=L3     => rev 2
		put a 2              => rev 3
		ttl L3 keys          => ttl 59 of 60, rev 3
		put b 1 lease=L3     => rev 4
		put b ignore-value   => rev 5
		get b                => rev 5, count 1, b=1 (c4 m5 v2)
		put c 1 lease=L3     => rev 6
		put c 2 ignore-lease => rev 7
		txn ? put d 1 lease=L3 , put e 1 : => rev 8, true, [rev 8], [rev 8]
		ttl L3 keys          => ttl 59 of 60, rev 8, c, d
		revoke L3            => rev 9
		get '' prefix        => rev 9, count 3, a=2 (c2 m3 v2), b=1 (c4 m5 v2), e=1 (c8 m8 v1)
		revoke L3            => NotFound: etcdserver: requested lease not found
		grant L3 60 id=abc7     => ttl 60, rev 9`},

	{name: "watches of ranges", script: `
		watch W1 '' prefix         =>
		watch W2 b from            =>
		watch W3 a to=c            =>
		put a 1                    => rev 2
		put c 1                    => rev 3
		next W1                    => rev 2, PUT a=1 (c2 m2 v1)
		next W1                    => rev 3, PUT c=1 (c3 m3 v1)
		next W2                    => rev 3, PUT c=1 (c3 m3 v1)
		next W3                    => rev 2, PUT a=1 (c2 m2 v1)
		txn ? put b 1 , del a , put c 2 :  => rev 4, true, [rev 4], [rev 4, deleted 1], [rev 4]
		next W1                    => rev 4, PUT b=1 (c4 m4 v1), DELETE a= (c0 m4 v0), PUT c=2 (c3 m4 v2)
		next W2                    => rev 4, PUT b=1 (c4 m4 v1), PUT c=2 (c3 m4 v2)
		next W3                    => rev 4, PUT b=1 (c4 m4 v1), DELETE a= (c0 m4 v0)
		cancel W1                  =>
		put b 2                    => rev 5
		next W1                    => closed
		next W2                    => rev 5, PUT b=2 (c4 m5 v2)
		del '' prefix              => rev 6, deleted 2
		next W2                    => rev 6, DELETE b= (c0 m6 v0), DELETE c= (c0 m6 v0)
		next W3                    => rev 5, PUT b=2 (c4 m5 v2)
		next W3                    => rev 6, DELETE b= (c0 m6 v0)`},

	{name: "a watch begins at an old revision and shows previous values", script: `
		put a 1               => rev 2
		put a 2               => rev 3
		put a 3               => rev 4
		del a                 => rev 5, deleted 1
		compact 3             => rev 5
		watch W a rev=3 prev  =>
		next W                => rev 5, PUT a=2 (c2 m3 v2), PUT a=3 (c2 m4 v3) was a=2 (c2 m3 v2), DELETE a= (c0 m5 v0) was a=3 (c2 m4 v3)`},

	{name: "two clients wait for a mutex", script: `
		session L1 60   =>
		session L2 60   =>
		session L3 60   =>
		lock L1 res     => res/L1 made in 2, got in 2
		wait L2 res     =>
		wait L3 res     =>
		got L2          => waits
		unlock L1       =>
		got L2          => got in 5
		got L3          => waits
		unlock L2       =>
		got L3          => got in 6
		end L3          =>
		get res prefix  => rev 7, count 0`},

	{name: "the session of a client that waits for a mutex is revoked", script: `
		session L1 60   =>
		session L2 60   =>
		session L3 60   =>
		lock L1 res     => res/L1 made in 2, got in 2
		wait L2 res     =>
		wait L3 res     =>
		revoke L2       => rev 5
		got L2          => waits
		got L3          => waits
		unlock L1       =>
		got L2          => mutex: session is expired
		got L3          => got in 6`},

	{name: "a compaction while a client waits for a mutex", script: `
		session L1 60   =>
		session L2 60   =>
		lock L1 res     => res/L1 made in 2, got in 2
		wait L2 res     =>
		put x 1         => rev 4
		compact 4       => rev 4
		got L2          => waits
		unlock L1       =>
		got L2          => got in 5`},

	{name: "the service Lock, in which the server acquires", script: `
		session L1 60          =>
		session L2 60          =>
		session L3 60          =>
		server-lock L1 res     => res/L1, got in 2
		server-lock L1 res     => res/L1, got in 2
		server-lock L2 res for 300ms => context deadline exceeded
		pass 200ms
		get res prefix         => rev 4, count 1, res/L1= (c2 m2 v1 L1)
		server-wait L2 res     =>
		server-wait L3 res     =>
		server-got L2          => waits
		get res prefix         => rev 6, count 3, res/L1= (c2 m2 v1 L1), res/L2= (c5 m5 v1 L2), res/L3= (c6 m6 v1 L3)
		server-unlock L1 res   => rev 7
		server-got L2          => res/L2, got in 7
		server-got L3          => waits
		server-unlock L2 res   => rev 8
		server-got L3          => res/L3, got in 8
		server-unlock L2 res   => rev 8
		server-unlock L3       => Unknown: etcdserver: key is not provided
		lock L1 res for 200ms  => context deadline exceeded
		end L3                 =>
		lock L1 res            => res/L1 made in 12, got in 12
		server-lock L2 res for 300ms => context deadline exceeded
		unlock L1              =>
		pass 200ms
		server-lock unknown res => Unknown: etcdserver: requested lease not found
		server-lock none other => other/its own, got in 16
		server-lock none other for 300ms => context deadline exceeded`},

	{name: "the session of a client that waits at the service Lock is revoked", script: `
		session L1 60          =>
		session L2 60          =>
		session L3 60          =>
		server-lock L1 res     => res/L1, got in 2
		server-wait L2 res     =>
		server-wait L3 res     =>
		revoke L2              => rev 5
		server-got L2          => waits
		server-unlock L1 res   => rev 6
		server-got L2          => Unknown: mutex: session is expired; 3.4 res/L2, got in 6
		server-got L3          => res/L3, got in 6
		server-unlock L3 res   => rev 7
		server-lock L1 res     => res/L1, got in 8
		server-wait L3 res     =>
		put x 1                => rev 10
		compact 10             => rev 10
		server-unlock L1 res   => rev 11
		server-got L3          => res/L3, got in 11`,
		oldDifference: `etcd 3.4 does not check whether the key of the waiter still exists: the waiter gets the lock after its session has ended`},

	{name: "the service Election, in which the server acquires", script: `
		session L1 60          =>
		session L2 60          =>
		server-leader job      => Unknown: election: no leader
		server-observe O job   =>
		server-next O          =>
		server-campaign L1 job one => job/L1 of job made in 2 by L1, got in 2
		server-campaign L1 job one => job/L1 of job made in 2 by L1, got in 2
		server-next O          => job/L1=one (c2 m2 v1 L1), rev 2
		server-leader job      => job/L1=one (c2 m2 v1 L1), rev 2
		server-campaign L2 job two for 300ms => context deadline exceeded
		pass 200ms
		get job prefix         => rev 4, count 1, job/L1=one (c2 m2 v1 L1)
		server-proclaim L1 uno => rev 5
		server-leader job      => job/L1=uno (c2 m5 v2 L1), rev 5
		server-next O          => job/L1=uno (c2 m5 v2 L1), rev 5
		server-campaign L1 job one => job/L1 of job made in 2 by L1, got in 5
		server-observe P job   =>
		server-resign L1       => rev 7
		server-resign L1       => rev 7
		server-proclaim L1 uno => Unknown: election: not leader
		server-next O          => job/L1=one (c2 m6 v3 L1), rev 6
		server-campaign L2 job two => job/L2 of job made in 8 by L2, got in 8
		server-next O          => job/L2=two (c8 m8 v1 L2), rev 8
		server-next P          => job/L1=one (c2 m6 v3 L1), rev 6, then job/L2=two (c8 m8 v1 L2), rev 8
		revoke L2              => rev 9
		server-proclaim L2 dos => Unknown: election: not leader
		server-leader job      => Unknown: election: no leader
		server-proclaim L3 x   => Unknown: "leader" field must be provided
		server-resign L3       => Unknown: "leader" field must be provided
		server-proclaim nothing x => Unknown: etcdserver: key is not provided
		server-resign nothing  => Unknown: etcdserver: key is not provided
		server-campaign unknown job x => Unknown: etcdserver: requested lease not found
		server-next O          =>`},

	{name: "requests that no lock sends", script: `
		members     => 1
		alarms      => 0; ours Unimplemented: unknown method Alarm for service etcdserverpb.Maintenance
		auth        => enabled false; 3.4 Unimplemented: unknown method AuthStatus for service etcdserverpb.Auth; ours Unimplemented: unknown method AuthStatus for service etcdserverpb.Auth
		defragment  => done; ours Unimplemented: unknown method Defragment for service etcdserverpb.Maintenance
		hash        => rev 1; ours Unimplemented: unknown method HashKV for service etcdserverpb.Maintenance`,
		ourDifference: "our server has no users, and no file that could be large or spoilt; it answers like a server that is too old to know the request",
		oldDifference: "the request AuthStatus exists since etcd 3.5"},
}
