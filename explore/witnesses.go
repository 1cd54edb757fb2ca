package explore

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

const (
	fewestWitnesses = 2
	mostWitnesses   = 4
)

// witnesses chooses what must have happened for the verdict on a world to mean
// anything: what its runs show and what would not have happened without the faults.
// less are, for each fault, the runs without it, and bare those without any; a fault
// whose number, from 1, is among idle could be left out and every witness would still
// be seen.
func (t *tale) witnesses(runs []*trace.Trace, less [][]*trace.Trace, bare []*trace.Trace) (chosen []string, idle []int) {
	seen := func(text string, in []*trace.Trace) int {
		w, err := trace.ParseWitness(text)
		if err != nil {
			return len(in)
		}
		n := 0
		for _, tr := range in {
			if history.Seen(w, tr) {
				n++
			}
		}
		return n
	}
	candidates := map[string]bool{}
	var all []string
	for _, text := range slices.Concat(t.telling(), t.failures(), t.orders()) {
		if _, err := trace.ParseWitness(text); err == nil && !candidates[text] && seen(text, runs) == len(runs) {
			candidates[text] = true
			all = append(all, text)
		}
	}
	covers := func(text string, fault int) bool { return seen(text, less[fault]) == 0 }
	covered := func(fault int) bool {
		return slices.ContainsFunc(chosen, func(text string) bool { return covers(text, fault) })
	}
	for fault := range less {
		if covered(fault) {
			continue
		}
		at := slices.IndexFunc(all, func(text string) bool { return t.about(text, fault) && covers(text, fault) })
		if at < 0 {
			at = slices.IndexFunc(all, func(text string) bool { return covers(text, fault) })
		}
		if at < 0 { // in one of the two runs, then
			at = slices.IndexFunc(all, func(text string) bool { return seen(text, less[fault]) < len(less[fault]) })
		}
		if at < 0 {
			idle = append(idle, fault+1)
			continue
		}
		chosen = append(chosen, all[at])
	}
	more := func(want func(text string) bool) {
		for _, text := range all {
			if len(chosen) < fewestWitnesses && !slices.Contains(chosen, text) && want(text) {
				chosen = append(chosen, text)
			}
		}
	}
	more(func(text string) bool { return seen(text, bare) == 0 && !t.says(chosen, text) })
	more(func(text string) bool { return seen(text, bare) == 0 })
	more(func(string) bool { return true })
	order := func(text string) int { return reached(text, t.trace) }
	slices.SortStableFunc(chosen, func(a, b string) int { return cmp.Compare(order(a), order(b)) })
	return chosen[:min(len(chosen), mostWitnesses)], idle
}

// reached is the event with which a witness was seen.
func reached(text string, tr *trace.Trace) int {
	w, err := trace.ParseWitness(text)
	if err != nil {
		return 0
	}
	at, _ := history.Reached(w, tr)
	return at
}

// about says whether a witness speaks of what a fault acts on.
func (t *tale) about(text string, fault int) bool {
	f := t.faults[fault]
	words := strings.Fields(strings.NewReplacer("'s ", " ", ",", "").Replace(text))
	if m, _, ok := heldMessage(f); f.Kind == "hold" && ok {
		return strings.HasPrefix(text, m.String())
	}
	return slices.Contains(words, f.Target)
}

// says says whether some witness that was chosen tells of the same point.
func (t *tale) says(chosen []string, text string) bool {
	head := func(s string) string {
		s = strings.Replace(s, " arrived, ", " arrived ", 1)
		s, _, _ = strings.Cut(s, " arrived ")
		for _, conj := range []string{" while ", " before ", " after "} {
			s, _, _ = strings.Cut(s, conj)
		}
		return s
	}
	return slices.ContainsFunc(chosen, func(c string) bool { return head(c) == head(text) })
}

// telling are witnesses that tell of the faults and of what broke, the most telling
// first. Some of them may not have happened.
func (t *tale) telling() []string {
	var all []string
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	first, second := t.rivals()
	for i, f := range t.faults {
		switch f.Kind {
		case "pause":
			add("%s's keys expired while %s was paused", first, f.Target)
			for _, did := range []string{"released", "wrote", "acquired"} {
				add("%s %s while %s was paused", second, did, f.Target)
			}
		case "crash":
			if t.isClient(f.Target) {
				add("%s acquired after %s crashed", second, f.Target)
				add("%s failed to acquire after %s crashed", second, f.Target)
				break
			}
			add("%s crashed after %s acquired", f.Target, first)
			add("%s restarted before %s acquired", f.Target, second)
			add("%s acquired while %s was down", second, f.Target)
		case "jump":
			add("%s's clock jumped after %s acquired", f.Target, first)
			add("%s's key expired on %s before %s acquired", first, f.Target, second)
			add("%s's clock jumped before %s acquired", f.Target, second)
		case "hold":
			if arrived := t.arrived(i, false); arrived != "" {
				for _, did := range []string{"released", "wrote", "acquired", "failed to acquire"} {
					add("%s after %s %s", arrived, second, did)
					add("%s after %s %s", arrived, first, did)
				}
			}
		case "partition":
			for _, node := range f.Others {
				for _, did := range []string{"worked", "wrote", "released"} {
					add("%s holds %s before %s %s", second, node, first, did)
				}
			}
			add("%s failed to acquire", f.Target)
		case "stall":
			add("storage applied %s's write before storage applied %s's write", second, first)
			add("%s released before storage applied %s's write", second, first)
		}
	}
	for _, did := range []string{"worked", "wrote", "released"} {
		add("%s acquired before %s %s", second, first, did)
	}
	for i, f := range t.faults {
		if client := t.client(i + 1); client != "" {
			add("%s gave up before %s acquired", client, other(client, first, second))
			add("%s released before storage applied %s's write", client, client)
			add("%s gave up", client)
			add("%s's write request to storage is in flight, 2nd time", client)
		}
		if arrived := t.arrived(i, true); f.Kind == "hold" && arrived != "" {
			add("%s after %s released", arrived, second)
			add("%s after %s acquired", arrived, second)
		}
	}
	add("%s wrote before %s wrote", second, first)
	add("%s's keys expired before %s released", first, first)
	return all
}

// failures are witnesses about how often the rivals asked for the lock in vain.
func (t *tale) failures() []string {
	var all []string
	first, second := t.rivals()
	for _, client := range []string{first, second} {
		if n := t.count(client + " failed to acquire"); n > 2 {
			all = append(all,
				fmt.Sprintf("%s failed to acquire, %s time", client, figure(min(n, 5))),
				fmt.Sprintf("%s failed to acquire, %s time", client, figure(n)))
		}
	}
	return all
}

// other is the one of two clients that is not this one.
func other(client, first, second string) string {
	if client == first {
		return second
	}
	return first
}

// rivals are the two clients that got into each other's way: the one that held the
// lock first, or wanted to, and the other.
func (t *tale) rivals() (first, second string) {
	var clients []string
	for i := range t.trace.Events {
		ev := &t.trace.Events[i]
		if ev.Kind == trace.KindBegin && t.cast[actor{ev.Process, ev.Section}] && !slices.Contains(clients, ev.Process) {
			clients = append(clients, ev.Process)
		}
	}
	for _, p := range t.trace.Processes {
		if p.Role == trace.RoleClient && !slices.Contains(clients, p.Name) {
			clients = append(clients, p.Name)
		}
	}
	if len(clients) == 1 {
		return clients[0], clients[0]
	}
	return clients[0], clients[1]
}

// arrived is the point at which the message arrived that a fault had held back, or ""
// if it never did; counted says which of its kind it was, if there were others.
func (t *tale) arrived(fault int, counted bool) string {
	m, _, ok := heldMessage(t.faults[fault])
	if t.faults[fault].Kind != "hold" || !ok {
		return ""
	}
	var held *trace.Event
	strike := false
	arrived := history.Recognise(m.Arrived(0), t.trace)
	n, nth := 0, 0
	for i := range t.trace.Events {
		ev := &t.trace.Events[i]
		match := arrived.See(ev)
		if match {
			n++
		}
		switch {
		case ev.Kind == trace.KindStrike:
			strike = ev.Fault == fault+1
		case ev.Kind == trace.KindHold && strike:
			held, strike = ev, false
		case held != nil && nth == 0 && match && ev.Conn == held.Conn && ev.Msg == held.Msg:
			nth = n
		}
	}
	switch {
	case nth == 0:
		return ""
	case counted && n > 1:
		return m.Arrived(nth).String()
	}
	return m.Arrived(0).String()
}

// count is how often a point was reached.
func (t *tale) count(point string) int {
	p, err := trace.ParsePoint(point)
	if err != nil {
		return 0
	}
	n, m := 0, history.Recognise(p, t.trace)
	for i := range t.trace.Events {
		if m.See(&t.trace.Events[i]) {
			n++
		}
	}
	return n
}

// orders are witnesses about the order of any two points of the story, for faults of
// which nothing more telling can be said.
func (t *tale) orders() []string {
	var points []string
	add := func(format string, args ...any) {
		point := fmt.Sprintf(format, args...)
		switch n := t.count(point); {
		case n == 1:
			points = append(points, point)
		case n > 1:
			points = append(points, point)
			for nth := 2; nth <= min(n, 4); nth++ {
				points = append(points, fmt.Sprintf("%s, %s time", point, figure(nth)))
			}
		}
	}
	for _, p := range t.trace.Processes {
		switch p.Role {
		case trace.RoleClient:
			for _, did := range []string{"acquired", "wrote", "released", "worked", "read", "failed to acquire", "extended", "gave up", "crashed", "resumed"} {
				add("%s %s", p.Name, did)
			}
			add("%s's keys expired", p.Name)
			add("storage applied %s's write", p.Name)
		case trace.RoleNode:
			for _, did := range []string{"restarted", "resumed", "crashed"} {
				add("%s %s", p.Name, did)
			}
			for _, c := range t.trace.Processes {
				if c.Role == trace.RoleClient {
					add("%s's key expired on %s", c.Name, p.Name)
					add("%s holds %s", c.Name, p.Name)
				}
			}
		}
	}
	orders := slices.Clone(points)
	for _, a := range points {
		for _, b := range points {
			if a != b {
				orders = append(orders, a+" before "+b)
			}
		}
	}
	return orders
}
