package mistakes

import (
	"fmt"
	"strings"
)

// Limit is how long a list or a mapping of a scenario can be.
type Limit struct {
	Path string
	// Line is the one of x.yaml that has it.
	Line int
	Most int
	// File is a file with so many entries at the path.
	File func(n int) string
	// Valid says that as many as there can be make a scenario by themselves.
	Valid bool
}

// Limits are those of every list.
var Limits = []Limit{
	{"clients", 3, 1000, func(n int) string { return With("clients", names(n, "client", "{}")) }, true},
	{"nodes", 4, 500, func(n int) string { return With("nodes", names(n, "replica", "{replica-of: redis-1}")) }, true},
	{"services", 4, 100, func(n int) string { return With("services", names(n, "proxy", "{}")) }, true},
	{"variants", 4, 50, func(n int) string { return With("variants", names(n, "way", "{}")) }, true},
	{"faults", 4, 1000, func(n int) string { return With("faults", words(n, "{crash: redis-1}")) }, true},
	{"witnesses", 4, 200, func(n int) string { return With("witnesses", words(n, "client-1 wrote")) }, true},
	{"measures", 4, 50, func(n int) string { return With("measures", words(n, "duration")) }, false},
	{"clients.client-1.does", 3, 100, func(n int) string { return With("clients", "{client-1: {does: "+words(n, "read x")+"}}") }, true},
	{"network.paths", 4, 1000, func(n int) string {
		return With("network", "{paths: "+words(n, "{from: client-1, to: [redis-1], latency: 1ms}")+"}")
	}, true},
	{"network.paths[1].to", 4, 1000, func(n int) string {
		return With("network", "{paths: [{from: client-1, to: "+numbers(n, "redis")+", latency: 1ms}]}")
	}, false},
	{"tokens.nodes", 4, 101, func(n int) string { return With("tokens", "{source: quorum-incr, nodes: "+numbers(n, "redis")+"}") }, true},
	{"faults[1].from", 4, 1000, func(n int) string { return With("faults", "[{partition: client-1, from: "+numbers(n, "redis")+"}]") }, false},
	{"lock.without", 2, 50, func(n int) string {
		return With("lock", "{kind: redlock, ttl: 30s, without: "+words(n, "elapsed-check")+"}")
	}, false},
	{"expect-with", 4, 100, func(n int) string { return With("expect-with", names(n, "lock", "{}")) }, false},
	{"expect.off.violated", 4, 50, func(n int) string {
		return With("expect", "{off: {verdict: unsafe, violated: "+words(n, "write-order")+"}, on: {verdict: safe}}")
	}, false},
}

// words is a list of one item, again and again.
func words(n int, item string) string {
	return "[" + strings.TrimSuffix(strings.Repeat(item+", ", n), ", ") + "]"
}

// names is a mapping of numbered names to the same settings.
func names(n int, name, settings string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s-%d: %s, ", name, i+1, settings)
	}
	return "{" + strings.TrimSuffix(b.String(), ", ") + "}"
}

// numbers is a list of numbered names.
func numbers(n int, name string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s-%d, ", name, i+1)
	}
	return "[" + strings.TrimSuffix(b.String(), ", ") + "]"
}

// With is a scenario in which a field has a value.
func With(field, value string) string {
	fields := []string{"title: t", "lock: {kind: redlock, ttl: 30s}", "clients: {client-1: {}}"}
	for i, f := range fields {
		if strings.HasPrefix(f, field+":") {
			fields[i] = field + ": " + value
			value = ""
		}
	}
	if value != "" {
		fields = append(fields, field+": "+value)
	}
	if field != "expect" {
		fields = append(fields, "expect: {off: {verdict: safe}, on: {verdict: safe}}")
	}
	return strings.Join(fields, "\n") + "\n"
}
