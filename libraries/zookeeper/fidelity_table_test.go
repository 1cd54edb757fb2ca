package zookeeper_test

import (
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
)

// fidelities are scripts of requests, with the answers.
var fidelities = []fidelity{
	{
		name: "create",
		do: func(s *script) {
			c := s.connect()
			for _, path := range []string{"/a", "/a", "/a/b", "/none/b"} {
				_, err := c.Create(s.at(path), nil, 0, everybody)
				s.reportResult("create "+path, err)
			}
			_, err := c.Create(s.at("/e"), nil, zk.FlagEphemeral, everybody)
			s.reportResult("create /e, ephemeral", err)
			_, err = c.Create(s.at("/e/child"), nil, 0, everybody)
			s.reportResult("create /e/child", err)
			_, err = c.Create("/", nil, 0, everybody)
			s.reportResult("create the root", err)
			_, err = c.Create("/zookeeper/x", nil, 0, everybody)
			s.reportResult("create /zookeeper/x", err)
			s.must(c.Delete("/zookeeper/x", -1))
		},
		want: `
			create /a: ok
			create /a: zk: node already exists
			create /a/b: ok
			create /none/b: zk: node does not exist
			create /e, ephemeral: ok
			create /e/child: zk: ephemeral nodes may not have children
			create the root: zk: node already exists
			create /zookeeper/x: ok`,
	},
	{
		name: "sequential nodes",
		do: func(s *script) {
			c := s.connect()
			for _, path := range []string{"/q-", "/q-", "/q-"} {
				s.report("%s", s.create(c, path, zk.FlagSequence))
			}
			s.create(c, "/other", 0)
			s.must(c.Delete(s.at("/q-0000000002"), -1))
			s.report("after another child and a delete: %s", s.create(c, "/q-", zk.FlagEphemeralSequential))
			s.report("without a name: %s", s.create(c, "/", zk.FlagSequence))
			_, err := c.Create(s.at("/q-0000000000"), nil, 0, everybody)
			s.reportResult("create /q-0000000000", err)
		},
		want: `
			/q-0000000000
			/q-0000000001
			/q-0000000002
			after another child and a delete: /q-0000000004
			without a name: /0000000005
			create /q-0000000000: zk: node already exists`,
	},
	{
		name: "the sequence begins again after the parent is deleted",
		do: func(s *script) {
			c := s.connect()
			s.create(c, "/p", 0)
			for range 3 {
				path := s.create(c, "/p/n-", zk.FlagSequence)
				s.report("%s", path)
				s.must(c.Delete(path, -1))
			}
			s.must(c.Delete(s.at("/p"), -1))
			s.create(c, "/p", 0)
			s.report("%s", s.create(c, "/p/n-", zk.FlagSequence))
		},
		want: `
			/p/n-0000000000
			/p/n-0000000001
			/p/n-0000000002
			/p/n-0000000000`,
	},
	{
		name: "stat",
		do: func(s *script) {
			c := s.connect()
			s.create(c, "/a", 0)
			s.look(c, "/a")
			_, err := c.Set(s.at("/a"), []byte("longer data"), 0)
			s.must(err)
			s.look(c, "/a")
			s.create(c, "/a/b", zk.FlagEphemeral)
			s.create(c, "/a/c", 0)
			s.look(c, "/a")
			s.look(c, "/a/b")
			s.must(c.Delete(s.at("/a/b"), -1))
			s.look(c, "/a")
			_, err = c.SetACL(s.at("/a"), everybody, -1)
			s.must(err)
			s.look(c, "/a")
			_, err = c.Set(s.at("/a"), nil, -1)
			s.must(err)
			s.look(c, "/a")
			data, _, err := c.Get(s.at("/a"))
			s.must(err)
			s.report("no data: %v", data == nil)
			s.look(c, "")
		},
		want: `
			/a: czxid +3, mzxid +3, pzxid +3, version 0, cversion 0, aversion 0, owned false, 4 bytes, 0 children
			/a: czxid +3, mzxid +4, pzxid +3, version 1, cversion 0, aversion 0, owned false, 11 bytes, 0 children
			/a: czxid +3, mzxid +4, pzxid +6, version 1, cversion 2, aversion 0, owned false, 11 bytes, 2 children
			/a/b: czxid +5, mzxid +5, pzxid +5, version 0, cversion 0, aversion 0, owned true, 4 bytes, 0 children
			/a: czxid +3, mzxid +4, pzxid +7, version 1, cversion 3, aversion 0, owned false, 11 bytes, 1 children
			/a: czxid +3, mzxid +4, pzxid +7, version 1, cversion 3, aversion 1, owned false, 11 bytes, 1 children
			/a: czxid +3, mzxid +9, pzxid +7, version 2, cversion 3, aversion 1, owned false, 0 bytes, 1 children
			no data: true
			: czxid +0, mzxid +0, pzxid +3, version 0, cversion 1, aversion 0, owned false, 0 bytes, 1 children`,
	},
	{
		name: "a failed write uses up a zxid",
		do: func(s *script) {
			c := s.connect()
			_, err := c.Create(s.at("/none/a"), nil, 0, everybody)
			s.reportResult("create", err)
			s.reportResult("delete", c.Delete(s.at("/none"), -1))
			_, err = c.Set(s.at("/none"), nil, -1)
			s.reportResult("set", err)
			_, err = c.Multi(&zk.CheckVersionRequest{Path: s.at("/none"), Version: 0})
			s.reportResult("multi", err)
			_, _, err = c.Get(s.at("/none"))
			s.reportResult("get", err)
			_, err = c.Sync(s.root)
			s.reportResult("sync", err)
			s.create(c, "/a", 0)
			s.look(c, "/a")
		},
		want: `
			create: zk: node does not exist
			delete: zk: node does not exist
			set: zk: node does not exist
			multi: zk: node does not exist
			get: zk: node does not exist
			sync: ok
			/a: czxid +7, mzxid +7, pzxid +7, version 0, cversion 0, aversion 0, owned false, 4 bytes, 0 children`,
	},
	{
		name: "versions and deletes",
		do: func(s *script) {
			c := s.connect()
			s.create(c, "/a", 0)
			s.create(c, "/a/b", 0)
			_, err := c.Set(s.at("/a"), nil, 1)
			s.reportResult("set version 1 of 0", err)
			n, err := c.Set(s.at("/a"), nil, -1)
			s.reportResult("set any version", err)
			s.report("version %d", n.Version)
			s.reportResult("delete with a child", c.Delete(s.at("/a"), 1))
			s.reportResult("delete with a child, wrong version", c.Delete(s.at("/a"), 0))
			s.reportResult("delete the child", c.Delete(s.at("/a/b"), 0))
			s.reportResult("delete wrong version", c.Delete(s.at("/a"), 0))
			s.reportResult("delete right version", c.Delete(s.at("/a"), 1))
			s.reportResult("delete again", c.Delete(s.at("/a"), 1))
			s.reportResult("delete the root", c.Delete("/", -1))
			s.reportResult("delete /zookeeper", c.Delete("/zookeeper", -1))
		},
		want: `
			set version 1 of 0: zk: version conflict
			set any version: ok
			version 1
			delete with a child: zk: node has children
			delete with a child, wrong version: zk: version conflict
			delete the child: ok
			delete wrong version: zk: version conflict
			delete right version: ok
			delete again: zk: node does not exist
			delete the root: invalid arguments
			delete /zookeeper: invalid arguments`,
	},
	{
		name: "children",
		do: func(s *script) {
			c := s.connect()
			for _, path := range []string{"/c", "/a", "/b"} {
				s.create(c, path, 0)
			}
			children, n, err := c.Children(s.root)
			s.must(err)
			slices.Sort(children) // the order is undefined
			s.report("%s", strings.Join(children, " "))
			s.stat("the parent", n)
			_, _, err = c.Children(s.at("/none"))
			s.reportResult("of none", err)
			children, n, err = c.Children("/zookeeper")
			s.must(err)
			slices.Sort(children)
			s.report("%s, %d children", strings.Join(children, " "), n.NumChildren)
		},
		want: `
			a b c
			the parent: czxid +0, mzxid +0, pzxid +5, version 0, cversion 3, aversion 0, owned false, 0 bytes, 3 children
			of none: zk: node does not exist
			config quota, 2 children`,
	},
	{
		name: "a watch is notified once",
		do: func(s *script) {
			c := s.connect()
			there, _, made, err := c.ExistsW(s.at("/a"))
			s.must(err)
			s.report("there: %v", there)
			s.create(c, "/a", 0)
			s.reportEvent(c, "made", made)
			_, _, changed, err := c.GetW(s.at("/a"))
			s.must(err)
			_, _, children, err := c.ChildrenW(s.at("/a"))
			s.must(err)
			s.create(c, "/a/b", 0)
			s.reportEvent(c, "children", children)
			s.reportEvent(c, "data", changed)
			_, err = c.Set(s.at("/a"), nil, -1)
			s.must(err)
			_, err = c.Set(s.at("/a"), nil, -1)
			s.must(err)
			s.reportEvent(c, "data", changed)
			_, _, children, err = c.ChildrenW(s.at("/a"))
			s.must(err)
			_, err = c.Set(s.at("/a/b"), nil, -1)
			s.must(err)
			s.reportEvent(c, "children, when one has changed", children)
			s.must(c.Delete(s.at("/a/b"), -1))
			s.reportEvent(c, "children", children)
			_, _, gone, err := c.ExistsW(s.at("/a"))
			s.must(err)
			_, _, children, err = c.ChildrenW(s.at("/a"))
			s.must(err)
			s.must(c.Delete(s.at("/a"), -1))
			s.reportEvent(c, "the node", gone)
			s.reportEvent(c, "its children", children)
			_, _, _, err = c.GetW(s.at("/a"))
			s.reportResult("watch what is not there, by a get", err)
			_, _, _, err = c.ChildrenW(s.at("/a"))
			s.reportResult("and by its children", err)
		},
		want: `
			there: false
			made: EventNodeCreated of /a
			children: EventNodeChildrenChanged of /a
			data: nothing
			data: EventNodeDataChanged of /a
			children, when one has changed: nothing
			children: EventNodeChildrenChanged of /a
			the node: EventNodeDeleted of /a
			its children: EventNodeDeleted of /a
			watch what is not there, by a get: zk: node does not exist
			and by its children: zk: node does not exist`,
	},
	{
		name: "an event comes before the answer",
		do: func(s *script) {
			r := s.raw()
			r.begin()
			r.create(1, "/a", 0)
			r.reportAnswers(1)
			r.send(2, 4, s.at("/a"), true)  // getData
			r.send(3, 12, s.at("/a"), true) // getChildren2
			r.send(4, 8, s.root, true)      // getChildren
			r.send(5, 3, s.at("/b"), true)  // exists
			r.reportAnswers(4)
			r.create(6, "/b", 0)
			r.reportAnswers(3)
			r.send(7, 2, s.at("/a"), -1)
			r.reportAnswers(2)
		},
		want: `
			answer to 1: 0, 29 bytes
			answer to 2: 0, 92 bytes
			answer to 3: 0, 88 bytes
			answer to 4: 0, 25 bytes
			answer to 5: -101, 16 bytes
			event 1, state 3, zxid -1, of /b
			event 4, state 3, zxid -1, of 
			answer to 6: 0, 29 bytes
			event 2, state 3, zxid -1, of /a
			answer to 7: 0, 16 bytes`,
	},
	{
		name: "multi",
		do: func(s *script) {
			c := s.connect()
			reportMulti := func(what string, all []zk.MultiResponse, err error) {
				s.reportResult(what, err)
				for i, r := range all {
					s.report("%d: %q, stat %v, %v", i, r.String, r.Stat != nil, r.Error)
				}
			}
			all, err := c.Multi(
				&zk.CreateRequest{Path: s.at("/a"), Acl: everybody},
				&zk.CreateRequest{Path: s.at("/a/q-"), Acl: everybody, Flags: zk.FlagSequence},
				&zk.CreateRequest{Path: s.at("/a/q-"), Acl: everybody, Flags: zk.FlagEphemeralSequential},
				&zk.SetDataRequest{Path: s.at("/a"), Data: []byte("x"), Version: 0},
				&zk.CheckVersionRequest{Path: s.at("/a"), Version: 1},
				&zk.DeleteRequest{Path: s.at("/a/q-0000000000"), Version: -1},
			)
			reportMulti("all", all, err)
			s.look(c, "/a")
			s.look(c, "/a/q-0000000001")
			all, err = c.Multi(
				&zk.CreateRequest{Path: s.at("/b"), Acl: everybody},
				&zk.CheckVersionRequest{Path: s.at("/a"), Version: 7},
				&zk.DeleteRequest{Path: s.at("/none"), Version: -1},
				&zk.SetDataRequest{Path: s.at("/a"), Version: -1},
			)
			reportMulti("none", all, err)
			s.look(c, "/b")
			all, err = c.Multi()
			reportMulti("nothing", all, err)
			s.create(c, "/c", 0)
			s.look(c, "/c")
		},
		want: `
			all: ok
			0: "/a", stat false, <nil>
			1: "/a/q-0000000000", stat false, <nil>
			2: "/a/q-0000000001", stat false, <nil>
			3: "", stat true, <nil>
			4: "", stat false, <nil>
			5: "", stat false, <nil>
			/a: czxid +3, mzxid +3, pzxid +3, version 1, cversion 3, aversion 0, owned false, 1 bytes, 1 children
			/a/q-0000000001: czxid +3, mzxid +3, pzxid +3, version 0, cversion 0, aversion 0, owned true, 0 bytes, 0 children
			none: zk: version conflict
			0: "", stat false, <nil>
			1: "", stat false, zk: version conflict
			2: "", stat false, unknown error: -2
			3: "", stat false, unknown error: -2
			/b: it is not there
			nothing: ok
			/c: czxid +6, mzxid +6, pzxid +6, version 0, cversion 0, aversion 0, owned false, 4 bytes, 0 children`,
	},
	{
		name: "access control lists",
		do: func(s *script) {
			c, d := s.connect(), s.connect()
			secret := zk.DigestACL(zk.PermAll, "me", "secret")
			_, err := c.Create(s.at("/a"), []byte("x"), 0, secret)
			s.reportResult("create for somebody else", err)
			_, _, err = c.Get(s.at("/a"))
			s.reportResult("get", err)
			_, _, err = c.Exists(s.at("/a"))
			s.reportResult("exists", err)
			_, _, err = c.Children(s.at("/a"))
			s.reportResult("children", err)
			_, err = c.Set(s.at("/a"), nil, -1)
			s.reportResult("set", err)
			_, err = c.Create(s.at("/a/b"), nil, 0, everybody)
			s.reportResult("create below it", err)
			_, _, err = c.GetACL(s.at("/a"))
			s.reportResult("get its ACL", err)
			_, err = c.SetACL(s.at("/a"), everybody, -1)
			s.reportResult("set its ACL", err)
			_, err = c.Create(s.at("/c"), nil, 0, zk.AuthACL(zk.PermAll))
			s.reportResult("create for nobody", err)
			s.reportResult("say who one is", c.AddAuth("digest", []byte("me:secret")))
			data, _, err := c.Get(s.at("/a"))
			s.reportResult("get "+string(data), err)
			_, err = c.Create(s.at("/c"), nil, 0, zk.AuthACL(zk.PermRead))
			s.reportResult("create for oneself", err)
			acl, _, err := c.GetACL(s.at("/c"))
			s.must(err)
			s.report("%+v", acl)
			acl, _, err = c.GetACL(s.at("/a"))
			s.must(err)
			s.report("%+v", acl)
			_, err = c.Set(s.at("/c"), nil, -1)
			s.reportResult("write what one may only read", err)
			n, err := c.SetACL(s.at("/a"), zk.WorldACL(zk.PermRead), 0)
			s.reportResult("set its ACL", err)
			s.stat("/a", n)
			_, err = c.SetACL(s.at("/a"), zk.WorldACL(zk.PermRead), 0)
			s.reportResult("set it again", err)
			_, _, err = d.Get(s.at("/a"))
			s.reportResult("get, by another", err)
			s.reportResult("delete, by another: it is the parent that says", d.Delete(s.at("/a"), -1))
			for _, acl := range [][]zk.ACL{nil, {{Perms: 31, Scheme: "world", ID: "somebody"}}, {{Perms: 31, Scheme: "none", ID: "x"}}, {{Perms: 31, Scheme: "digest", ID: "x"}}} {
				_, err = d.Create(s.at("/d"), nil, 0, acl)
				s.reportResult("create with a bad ACL", err)
			}
			_, _, err = d.GetACL(s.at("/none"))
			s.reportResult("the ACL of none", err)
		},
		want: `
			create for somebody else: ok
			get: zk: not authenticated
			exists: ok
			children: zk: not authenticated
			set: zk: not authenticated
			create below it: zk: not authenticated
			get its ACL: zk: not authenticated
			set its ACL: zk: not authenticated
			create for nobody: zk: invalid ACL specified
			say who one is: ok
			get x: ok
			create for oneself: ok
			[{Perms:1 Scheme:digest ID:me:x}]
			[{Perms:31 Scheme:digest ID:me:016djjlksVQS5RgX3M7biBGyYwY=}]
			write what one may only read: zk: not authenticated
			set its ACL: ok
			/a: czxid +4, mzxid +4, pzxid +4, version 0, cversion 0, aversion 1, owned false, 1 bytes, 0 children
			set it again: zk: not authenticated
			get, by another: ok
			delete, by another: it is the parent that says: ok
			create with a bad ACL: zk: invalid ACL specified
			create with a bad ACL: zk: invalid ACL specified
			create with a bad ACL: zk: invalid ACL specified
			create with a bad ACL: zk: invalid ACL specified
			the ACL of none: zk: node does not exist`,
	},
	{
		name: "authentication",
		do: func(s *script) {
			r := s.raw()
			r.begin()
			r.send(-4, 100, 0, "digest", []byte("me:secret"))
			r.reportAnswers(1)
			r.send(-4, 100, 0, "nonsense", []byte("x"))
			r.reportAnswers(2)
		},
		want: `
			answer to -4: 0, 16 bytes
			answer to -4: -115, 16 bytes
			the connection was closed`,
	},
	{
		name: "session timeouts",
		do: func(s *script) {
			for _, asked := range []int{0, 1_000, 10_001, 1_000_000, -5} {
				r := s.raw()
				r.hello(0, asked, 0, make([]byte, 16))
			}
		},
		want: `
			hello: a session, timeout 4000, the same false, 36 bytes
			hello: a session, timeout 4000, the same false, 36 bytes
			hello: a session, timeout 10001, the same false, 36 bytes
			hello: a session, timeout 40000, the same false, 36 bytes
			hello: a session, timeout 4000, the same false, 36 bytes`,
	},
	{
		name: "a session is resumed on another connection",
		do: func(s *script) {
			r := s.raw()
			r.hello(0, 10_000, 0, nil)
			again := s.raw()
			again.hello(0, 5_000, r.session, r.secret)
			r.reportAnswers(1)
			wrong := s.raw()
			wrong.hello(0, 10_000, r.session, make([]byte, 16))
			wrong.reportAnswers(1)
			again.reportAnswers(1)
			none := s.raw()
			none.hello(0, 10_000, 12345, make([]byte, 16))
			none.reportAnswers(1)
			ahead := s.raw()
			ahead.hello(1<<60, 10_000, 0, make([]byte, 16))
			modern := s.raw()
			modern.send(0, int64(0), 10_000, int64(0), make([]byte, 16), false)
			s.report("%d bytes", len(modern.receive()))
		},
		want: `
			hello: a session, timeout 10000, the same false, 36 bytes
			hello: a session, timeout 5000, the same true, 36 bytes
			the connection was closed
			hello: the session has expired, timeout 0, 36 bytes
			the connection was closed
			the connection was closed
			hello: the session has expired, timeout 0, 36 bytes
			the connection was closed
			hello: the connection was closed
			37 bytes`,
	},
	{
		name: "a session is closed",
		do: func(s *script) {
			c := s.connect()
			r := s.raw()
			r.begin()
			r.create(1, "/b", 1)
			r.create(2, "/a", 1)
			r.create(3, "/c", 0)
			r.reportAnswers(3)
			_, _, a, err := c.ExistsW(s.at("/a"))
			s.must(err)
			_, _, children, err := c.ChildrenW(s.root)
			s.must(err)
			r.send(4, 4, s.at("/a"), true)
			r.send(5, -11)
			r.reportAnswers(4)
			s.reportEvent(c, "/a", a)
			s.reportEvent(c, "children", children)
			again := s.raw()
			again.hello(0, 10_000, r.session, r.secret)
			s.look(c, "/c")
			s.look(c, "")
		},
		want: `
			answer to 1: 0, 29 bytes
			answer to 2: 0, 29 bytes
			answer to 3: 0, 29 bytes
			answer to 4: 0, 92 bytes
			event 2, state 3, zxid -1, of /a
			answer to 5: 0, 16 bytes
			the connection was closed
			/a: EventNodeDeleted of /a
			children: EventNodeChildrenChanged of 
			hello: the session has expired, timeout 0, 36 bytes
			/c: czxid +6, mzxid +6, pzxid +6, version 0, cversion 0, aversion 0, owned false, 4 bytes, 0 children
			: czxid +0, mzxid +0, pzxid +7, version 0, cversion 5, aversion 0, owned false, 0 bytes, 1 children`,
	},
	{
		name: "a session expires", isSlow: true,
		do: func(s *script) {
			c := s.connect()
			r := s.raw()
			r.hello(0, 4_000, 0, make([]byte, 16))
			last := time.Now()
			r.create(1, "/a", 1)
			r.reportAnswers(1)
			heard := time.Now()
			_, _, gone, err := c.ExistsW(s.at("/a"))
			s.must(err)
			ev := <-gone
			s.report("%v, after the timeout and at most a tick more: %v", ev.Type, time.Since(last) >= 4*time.Second && time.Since(heard) < 6*time.Second+s.slack)
			r.reportAnswers(1)
			again := s.raw()
			again.hello(0, 4_000, r.session, r.secret)
		},
		want: `
			hello: a session, timeout 4000, the same false, 36 bytes
			answer to 1: 0, 29 bytes
			EventNodeDeleted, after the timeout and at most a tick more: true
			the connection was closed
			hello: the session has expired, timeout 0, 36 bytes`,
	},
	{
		name: "pings and reads keep a session", isSlow: true,
		do: func(s *script) {
			r, q := s.raw(), s.raw()
			r.hello(0, 6_000, 0, make([]byte, 16))
			q.hello(0, 6_000, 0, make([]byte, 16))
			for i := range 5 {
				time.Sleep(2 * time.Second)
				r.send(-2, 11)
				r.reportAnswers(1)
				q.send(i, 3, s.at("/a"), false)
				q.reportAnswers(1)
			}
		},
		want: `
			hello: a session, timeout 6000, the same false, 36 bytes
			hello: a session, timeout 6000, the same false, 36 bytes
			answer to -2: 0, 16 bytes
			answer to 0: -101, 16 bytes
			answer to -2: 0, 16 bytes
			answer to 1: -101, 16 bytes
			answer to -2: 0, 16 bytes
			answer to 2: -101, 16 bytes
			answer to -2: 0, 16 bytes
			answer to 3: -101, 16 bytes
			answer to -2: 0, 16 bytes
			answer to 4: -101, 16 bytes`,
	},
	{
		name: "a new connection sets watches again",
		do: func(s *script) {
			c := s.connect()
			for _, path := range []string{"/same", "/changed", "/parent", "/gone", "/quiet"} {
				s.create(c, path, 0)
			}
			_, n, err := c.Exists(s.at("/quiet"))
			s.must(err)
			since := n.Czxid
			_, err = c.Set(s.at("/changed"), nil, -1)
			s.must(err)
			s.create(c, "/parent/child", 0)
			s.must(c.Delete(s.at("/gone"), -1))
			s.create(c, "/made", 0)
			at := func(paths ...string) []string {
				for i := range paths {
					paths[i] = s.at(paths[i])
				}
				return paths
			}
			r := s.raw()
			r.begin()
			r.send(1, 101, since, at("/changed", "/gone", "/same"), at("/made", "/none"), at("/gone", "/parent", "/quiet"))
			r.reportAnswers(6)
			_, err = c.Set(s.at("/same"), nil, -1)
			s.must(err)
			s.create(c, "/none", 0)
			s.create(c, "/quiet/child", 0)
			r.reportAnswers(3)
		},
		want: `
			event 3, state 3, zxid -1, of /changed
			event 2, state 3, zxid -1, of /gone
			event 1, state 3, zxid -1, of /made
			event 2, state 3, zxid -1, of /gone
			event 4, state 3, zxid -1, of /parent
			answer to 1: 0, 16 bytes
			event 3, state 3, zxid -1, of /same
			event 1, state 3, zxid -1, of /none
			event 4, state 3, zxid -1, of /quiet`,
	},
	{
		name: "answers come in order",
		do: func(s *script) {
			r := s.raw()
			r.begin()
			r.create(1, "/a", 0)
			r.send(2, 4, s.at("/a"), false)
			r.send(3, 9, s.at("/a"))
			r.send(-2, 11)
			r.send(4, 2, s.at("/a"), -1)
			r.send(5, 3, s.at("/a"), false)
			r.reportAnswers(6)
		},
		want: `
			answer to 1: 0, 29 bytes
			answer to 2: 0, 92 bytes
			answer to 3: 0, 29 bytes
			answer to -2: 0, 16 bytes
			answer to 4: 0, 16 bytes
			answer to 5: -101, 16 bytes`,
	},
	{
		name: "bad paths",
		do: func(s *script) {
			r := s.raw()
			r.begin()
			for i, path := range []string{"/", "//a", "/a//b", "/./a", "/../a", "/a\x01", "/a\x00"} {
				r.create(i, path, 0)
				r.reportAnswers(1)
			}
			r.send(100, 4, "nowhere", false)
			r.reportAnswers(1)
			r.send(101, 2, "nowhere", -1)
			r.reportAnswers(1)
			r.send(102, 5, "nowhere", []byte("x"), -1)
			r.reportAnswers(1)
		},
		want: `
			answer to 0: -8, 16 bytes
			answer to 1: -101, 16 bytes
			answer to 2: -101, 16 bytes
			answer to 3: -101, 16 bytes
			answer to 4: -101, 16 bytes
			answer to 5: -8, 16 bytes
			answer to 6: -8, 16 bytes
			answer to 100: -101, 16 bytes
			answer to 101: -8, 16 bytes
			answer to 102: -8, 16 bytes`,
	},
	{
		name: "create2",
		do: func(s *script) {
			r := s.raw()
			r.begin()
			body := append(append(jute(1, 15, s.at("/a"), []byte("data")), openACL()...), jute(3)...)
			r.sendRaw(append(jute(len(body)), body...))
			r.reportAnswers(1)
		},
		want: `answer to 1: 0, 107 bytes`,
	},
	{
		name: "operations that are not served",
		do: func(s *script) {
			c := s.connect()
			_, err := c.CreateTTL(s.at("/t"), nil, zk.FlagTTL, everybody, time.Second)
			s.reportResult("create with a TTL", err)
			_, err = c.Reconfig([]string{"server.1=x:1:2:participant;3"}, -1)
			s.reportResult("reconfig", err)
		},
		want: `
			create with a TTL: unknown error: -6
			reconfig: attempts to perform a reconfiguration operation when reconfiguration feature is disabled`,
	},
	{
		name: "containers",
		do: func(s *script) {
			c := s.connect()
			_, err := c.CreateContainer(s.at("/c"), nil, zk.FlagContainer, everybody)
			s.reportResult("create a container", err)
			_, err = c.Create(s.at("/d"), nil, zk.FlagContainer, everybody)
			s.reportResult("by the flag alone", err)
		},
		want: `
			create a container: unknown error: -6
			by the flag alone: unknown error: -6`,
		real: `
			create a container: ok
			by the flag alone: ok`,
		why: "no recipe here needs nodes that a server deletes once they are empty; a run that asks for one is inconclusive",
	},
	{
		name: "an unknown operation",
		do: func(s *script) {
			r := s.raw()
			r.begin()
			r.send(1, 4711, "x")
			r.reportAnswers(2)
		},
		want: `
			answer to 1: -6, 16 bytes
			the connection was closed`,
	},
	{
		name: "requests that are cut short",
		do: func(s *script) {
			r := s.raw()
			r.begin()
			r.send(1, 1, s.at("/a")) // create
			r.reportAnswers(1)
			r.send(2, 4, s.at("/a")) // getData
			r.reportAnswers(1)
			r.send(3, 2) // delete
			r.reportAnswers(1)
			r.send(4, 14, 1, false) // multi
			r.reportAnswers(1)
			r.send(5, 9) // sync
			r.reportAnswers(1)
			r.send(6, 101, int64(0)) // setWatches
			r.reportAnswers(1)
		},
		want: `
			answer to 1: -5, 16 bytes
			answer to 2: -5, 16 bytes
			answer to 3: -5, 16 bytes
			answer to 4: -5, 16 bytes
			answer to 5: -5, 16 bytes
			answer to 6: -5, 16 bytes`,
	},
	{
		name: "bytes that are not a message",
		do: func(s *script) {
			for _, b := range [][]byte{{0xff, 0xff, 0xff, 0xff}, {0x7f, 0xff, 0xff, 0xff}, {0, 0, 0, 2, 1, 2}} {
				r := s.raw()
				r.begin()
				r.sendRaw(b)
				r.reportAnswers(1)
			}
			r := s.raw()
			r.sendRaw(jute(4, 0))
			r.reportAnswers(1)
		},
		want: `
			the connection was closed
			the connection was closed
			the connection was closed
			the connection was closed`,
	},
	{
		name: "commands of four letters",
		do: func(s *script) {
			r := s.raw()
			r.sendRaw([]byte("ruok"))
			b := make([]byte, 64)
			n, _ := r.Read(b)
			s.report("%q", b[:n])
		},
		want: `""`,
		real: `"ruok is not executed because it is not in the whitelist.\n"`,
		why:  "these commands are for operators, and no client of a lock sends them",
	},
}
