package checks

import (
	"slices"
	"testing"
)

// Each script shows one anomaly, and violates exactly these properties. One property more
// would be a false accusation. The scripts are traces written by hand; see [script].
func TestAnomalies(t *testing.T) {
	for _, test := range []struct {
		name  string
		story string
		want  []Property
	}{
		{"write skew over two objects, each with its own fencing", `
			0s  c1 acquires rank=33 ends=30s
			1s  c1 reads x=0
			40s c2 acquires rank=34 ends=70s
			41s c2 reads y=0
			42s c2 writes x=0>1
			43s c2 releases
			50s c1 writes y=0>1
			51s c1 releases`, []Property{SectionExclusion, GrantOrder, SerialSections}},
		{"write skew over two objects that share their fencing: the last write is refused", `
			0s  c1 acquires rank=33 ends=30s
			1s  c1 reads x=0
			40s c2 acquires rank=34 ends=70s
			41s c2 reads y=0
			42s c2 writes x=0>1
			43s c2 releases
			50s c1 is-refused object=y
			51s c1 releases`, []Property{SectionExclusion}},

		{"the first copy of a write arrives after the second and another write", `
			0s c1 acquires rank=33 ends=30s
			1s c1 reads x=0
			2s c1 sends message=1
			4s c1 resends message=2
			4s c1 lands message=2 x=0>1
			5s c1 hears x=1
			6s c1 sends message=3
			6s c1 lands message=3 x=1>2
			7s c1 hears x=2
			8s c1 lands message=1 x=2>3
			9s c1 releases`, []Property{NoLostUpdate}},
		{"the first copy of a write arrives after the second, another write and the release", `
			0s c1 acquires rank=33 ends=30s
			1s c1 reads x=0
			2s c1 sends message=1
			4s c1 resends message=2
			4s c1 lands message=2 x=0>1
			5s c1 hears x=1
			6s c1 sends message=3
			6s c1 lands message=3 x=1>2
			7s c1 hears x=2
			8s c1 releases
			9s c1 lands message=1 x=2>3`, []Property{NoLostUpdate}},
		{"the first copy of a write arrives before the second", `
			0s c1 acquires rank=33 ends=30s
			1s c1 reads x=0
			2s c1 sends message=1
			4s c1 resends message=2
			5s c1 lands message=1 x=0>1
			5s c1 lands message=2 x=1>2
			5s c1 hears x=2
			6s c1 sends message=3
			6s c1 lands message=3 x=2>3
			7s c1 hears x=3
			9s c1 releases`, nil},

		{"the storage fails over to a copy without the newer write and its token", `
			0s  c1 acquires rank=33 ends=30s
			1s  c1 reads x=0
			40s c2 acquires rank=34 ends=70s
			41s c2 reads x=0
			42s c2 writes x=0>1
			43s c2 releases
			44s storage crashes
			45s storage restarts
			45s storage reverts x=1>0
			50s c1 writes x=0>1
			51s c1 releases`, []Property{SectionExclusion, GrantOrder, NoLostUpdate, SerialSections}},
		{"the storage fails over to a copy with the newer write and its token", `
			0s  c1 acquires rank=33 ends=30s
			1s  c1 reads x=0
			40s c2 acquires rank=34 ends=70s
			41s c2 reads x=0
			42s c2 writes x=0>1
			43s c2 releases
			44s storage crashes
			45s storage restarts
			50s c1 is-refused
			51s c1 releases`, []Property{SectionExclusion}},
		{"the storage fails over to a copy without a newer write that was not acknowledged", `
			0s  c1 acquires rank=33 ends=30s
			1s  c1 reads x=0
			40s c2 acquires rank=34 ends=70s
			41s c2 reads x=0
			42s c2 sends message=1
			42s c2 lands message=1 x=0>1
			44s storage crashes
			45s storage restarts
			45s storage reverts x=1>0
			50s c1 writes x=0>1
			51s c1 releases`, []Property{SectionExclusion, GrantOrder}},
		{"the storage forgets the token and keeps the write", `
			0s  c1 acquires rank=33 ends=30s
			1s  c1 reads x=0
			40s c2 acquires rank=34 ends=70s
			41s c2 reads x=0
			42s c2 writes x=0>1
			43s c2 releases
			44s storage crashes
			45s storage restarts
			50s c1 writes x=1>2
			51s c1 releases`, []Property{SectionExclusion, GrantOrder, WriteOrder, NoLostUpdate, SerialSections}},

		{"a token that is minted late is greater than the newer holder's", `
			0s  c1 acquires rank=1 ends=30s
			1s  c1 reads x=0
			40s c2 acquires rank=2 ends=70s
			41s c2 mints token=1
			42s c2 reads x=0
			43s c2 writes x=0>1
			44s c2 releases
			50s c1 mints token=2
			51s c1 writes x=1>2
			52s c1 releases`, []Property{SectionExclusion, TokenOrder, GrantOrder, WriteOrder, NoLostUpdate, SerialSections}},
		{"a token that is minted in time is smaller than the newer holder's", `
			0s  c1 acquires rank=1 ends=30s
			0s  c1 mints token=1
			1s  c1 reads x=0
			40s c2 acquires rank=2 ends=70s
			41s c2 mints token=2
			42s c2 reads x=0
			43s c2 writes x=0>1
			44s c2 releases
			51s c1 is-refused
			52s c1 releases`, []Property{SectionExclusion}},

		{"a lock that excludes nobody, with tokens checked on writes", `
			lock L ttl=30s open
			0s c1 acquires rank=1
			0s c2 acquires rank=2
			1s c1 mints token=1
			1s c2 mints token=2
			2s c1 reads x=0
			2s c2 reads x=0
			3s c1 writes x=0>1
			4s c2 writes x=1>2
			5s c1 releases
			5s c2 releases`, []Property{SectionExclusion, NoLostUpdate, SerialSections}},
		{"a lock that excludes nobody, with tokens checked on reads and writes", `
			lock L ttl=30s open
			0s c1 acquires rank=1
			0s c2 acquires rank=2
			1s c1 mints token=1
			1s c2 mints token=2
			2s c1 reads x=0
			2s c2 reads x=0
			3s c1 is-refused
			4s c2 writes x=0>1
			5s c1 releases
			5s c2 releases`, []Property{SectionExclusion}},

		{"check-and-set on a random value", `
			lock L ttl=30s unordered
			0s  c1 acquires rank=1 ends=30s
			0s  c1 mints token=9
			1s  c1 marks x=0
			2s  c1 reads x=0
			40s c2 acquires rank=2 ends=70s
			40s c2 mints token=4
			41s c2 marks x=0
			42s c2 reads x=0
			43s c2 writes x=0>1
			44s c2 releases
			50s c1 is-refused
			51s c1 releases`, []Property{SectionExclusion}},
		{"the older mark arrives after the newer one", `
			lock L ttl=30s unordered
			0s  c1 acquires rank=1 ends=30s
			0s  c1 mints token=9
			2s  c1 reads x=0
			40s c2 acquires rank=2 ends=70s
			40s c2 mints token=4
			41s c2 marks x=0
			42s c2 reads x=0
			43s c1 marks x=0
			44s c1 writes x=0>1
			45s c2 is-refused
			46s c1 releases
			46s c2 releases`, []Property{SectionExclusion, GrantOrder}},

		{"the holder of a lock without a TTL crashed", `
			lock L ttl=0s
			0s  c1 acquires rank=1
			1s  fault-1 strikes
			1s  c1 crashes
			2s  c2 fails
			99s c2 is-cut-off`, []Property{Progress}},
		{"the holder of a lock with a TTL crashed", `
			0s  c1 acquires rank=1 ends=30s
			1s  fault-1 strikes
			1s  c1 crashes
			2s  c2 fails
			31s c2 acquires rank=2 ends=61s
			32s c2 reads x=0
			33s c2 writes x=0>1
			34s c2 releases`, nil},

		{"two locks for two objects", `
			lock M ttl=30s
			0s c1 acquires rank=1 ends=30s
			0s c2 acquires rank=1 ends=30s lock=M
			1s c1 reads x=0
			1s c2 reads y=0
			2s c1 writes x=0>1
			2s c2 writes y=0>1
			3s c1 releases
			3s c2 releases`, nil},
		{"two locks for one object", `
			lock M ttl=30s
			0s c1 acquires rank=1 ends=30s
			0s c2 acquires rank=1 ends=30s lock=M
			1s c1 reads x=0
			1s c2 reads x=0
			2s c1 writes x=0>1
			2s c2 writes x=1>2
			3s c1 releases
			3s c2 releases`, []Property{NoLostUpdate, SerialSections}},

		{"a write is passed on by services, and arrives after the lease has ended", `
			0s  c1 acquires rank=1 ends=30s
			1s  c1 reads x=0
			2s  c1 sends message=1 via=s1
			40s c2 acquires rank=2 ends=70s
			41s c2 reads x=0
			42s c2 writes x=0>1
			43s c2 releases
			50s c1 lands message=1 x=1>2 via=s2
			51s c1 hears x=2
			52s c1 releases`, []Property{SectionExclusion, GrantOrder, WriteOrder, NoLostUpdate, SerialSections}},
		{"a write is passed on by services, and arrives before the lease has ended", `
			0s  c1 acquires rank=1 ends=30s
			1s  c1 reads x=0
			2s  c1 sends message=1 via=s1
			20s c1 lands message=1 x=0>1 via=s2
			21s c1 hears x=1
			22s c1 releases
			40s c2 acquires rank=2 ends=70s
			41s c2 reads x=1
			42s c2 writes x=1>2
			43s c2 releases`, nil},

		{"a circuit breaker lets both clients continue without a grant", `
			0s c1 acquires rank=1 ends=30s ungranted
			0s c2 acquires rank=2 ends=30s ungranted
			1s c1 reads x=0
			1s c2 reads x=0
			2s c1 writes x=0>1
			3s c2 writes x=1>2
			4s c1 releases
			4s c2 releases`, []Property{LeaseExclusion, SectionExclusion, GrantOrder, NoLostUpdate, SerialSections}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := violations(t, test.story); !slices.Equal(got, test.want) {
				t.Errorf("the script violates %v, want %v", got, test.want)
			}
		})
	}
}
