package simtest

import (
	"strconv"
	"strings"
)

// Limit is the greatest length of a list or mapping in a scenario file.
type Limit struct {
	Path string
	// Line is the line of [Limit.File] with the list.
	Line int
	Max  int
	// field is the top-level field that contains the list, and value is its value, with …
	// in place of the entries. Each entry is a copy of entry with its number in place of #.
	field, value, entry string
	// Valid means that a file with the greatest number of entries is a valid scenario. Other such
	// files are not, for example because they name nodes that do not exist.
	Valid bool
}

// Limits are the limits of all lists and mappings in scenario files.
var Limits = []Limit{
	{"clients", 3, 1000, "clients", "{…}", "client-#: {}", true},
	{"nodes", 4, 500, "nodes", "{…}", "replica-#: {replica-of: redis-1}", true},
	{"services", 4, 100, "services", "{…}", "proxy-#: {}", true},
	{"variants", 4, 50, "variants", "{…}", "way-#: {}", true},
	{"faults", 4, 1000, "faults", "[…]", "{crash: redis-1}", true},
	{"witnesses", 4, 200, "witnesses", "[…]", "client-1 wrote", true},
	{"measures", 4, 50, "measures", "[…]", "duration", false},
	{"clients.client-1.does", 3, 100, "clients", "{client-1: {does: […]}}", "read x", true},
	{"network.paths", 4, 1000, "network", "{paths: […]}", "{from: client-1, to: [redis-1], latency: 1ms}", true},
	{"network.paths[1].to", 4, 1000, "network", "{paths: [{from: client-1, to: […], latency: 1ms}]}", "redis-#", false},
	{"tokens.nodes", 4, 101, "tokens", "{source: quorum-incr, nodes: […]}", "redis-#", true},
	{"faults[1].from", 4, 1000, "faults", "[{partition: client-1, from: […]}]", "redis-#", false},
	{"lock.without", 2, 50, "lock", "{kind: redlock, ttl: 30s, without: […]}", "elapsed-check", false},
	{"expect-with", 4, 100, "expect-with", "{…}", "lock-#: {}", false},
	{"expect.off.violated", 4, 50, "expect", "{off: {verdict: unsafe, violated: […]}, on: {verdict: safe}}", "write-order", false},
}

// File returns a scenario file whose list has n entries.
func (l Limit) File(n int) string {
	entries := make([]string, n)
	for i := range entries {
		entries[i] = strings.ReplaceAll(l.entry, "#", strconv.Itoa(i+1))
	}
	return ScenarioWith(l.field, strings.Replace(l.value, "…", strings.Join(entries, ", "), 1))
}

// ScenarioWith returns a small scenario file in which a top-level field has the given
// value.
func ScenarioWith(field, value string) string {
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
