package reports

import (
	"cmp"
	"slices"
	"strings"

	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/locks"
)

// A decision lists the locks that are good enough for one kind of harm: the harm that two
// clients do if they work at the same time.
type decision struct {
	// Need says what harm two clients do if they work at the same time. Because is the rule
	// by which the locks were chosen.
	Need, Because string
	Fit           []string
	// Others says why other locks do not fit, with their names.
	Others []string
}

// decisions returns each decision for which the counts and the descriptions of the locks
// name a lock.
func (t tallyTables) decisions() []decision {
	var all []decision
	for _, d := range []decision{t.cheapestLocks(), t.survivingLocks(), t.locksWithTokens(), t.locksBesideData()} {
		if len(d.Fit)+len(d.Others) > 0 {
			all = append(all, d)
		}
	}
	return all
}

// cheapestLocks returns the three locks with the fewest messages, and all locks that need as
// many messages as the third.
func (t tallyTables) cheapestLocks() decision {
	const most = 3
	d := decision{Need: "only time is lost", Because: "fewest messages"}
	m := t.measured("traffic", "messages per section")
	if len(m.rows) == 0 {
		return d
	}
	type price struct {
		lock     string
		messages int64
		text     string
	}
	var prices []price
	for column, lock := range t.Locks {
		if s := t.Counts[m.rows[0]][column].sample(m.measure, m.figure); len(s.Values) > 0 {
			median := s.percentile(50)
			prices = append(prices, price{story.Visible(lock), median, s.write(median)})
		}
	}
	slices.SortStableFunc(prices, func(a, b price) int { return cmp.Compare(a.messages, b.messages) })
	for i, p := range prices {
		if i >= most && p.messages > prices[i-1].messages {
			break
		}
		d.Fit = append(d.Fit, p.lock+" "+p.text)
	}
	return d
}

// survivingLocks returns the locks that still work when one of their servers is down.
func (t tallyTables) survivingLocks() decision {
	d := decision{Need: "rare cases are fine", Because: "survives one server"}
	reasons := groups{}
	for column, lock := range t.Locks {
		switch s := t.survival(column); {
		case s.lost > 0 || s.hasReplica && s.harm == "":
			d.Fit = append(d.Fit, story.Visible(lock))
		case s.hasReplica:
			reasons.add(s.harm+" after a replica takes over", story.Visible(lock))
		case s.isTested && s.isOneOfSeveral():
			reasons.add("unknown, 1 server is simulated", story.Visible(lock)+" (usually "+s.usual+")")
		case s.isTested:
			reasons.add("no server may be down", story.Visible(lock))
		}
	}
	d.Others = reasons.texts()
	return d
}

// locksWithTokens returns the locks whose own tokens protect data that is elsewhere.
func (t tallyTables) locksWithTokens() decision {
	d := decision{Need: "data elsewhere is wrong", Because: "own token; data right if the storage checks it"}
	reasons := groups{}
	for column, lock := range t.Locks {
		hasTokens, known := t.ownTokens(column)
		switch wrong := t.wrongData(column, 1); {
		case !known:
		case !hasTokens:
			reasons.add("no own token", story.Visible(lock))
		case len(wrong.scenarios) > 0:
			reasons.add("wrong data despite tokens in "+story.List(wrong.names()), story.Visible(lock))
		case wrong.unknown > 0 || wrong.judged == 0:
			reasons.add("unknown with tokens in some scenario", story.Visible(lock))
		default:
			d.Fit = append(d.Fit, story.Visible(lock))
		}
	}
	d.Others = reasons.texts()
	return d
}

// locksBesideData lists all locks on the systems of the compared locks that can protect data in
// the same system.
func (t tallyTables) locksBesideData() decision {
	d := decision{Need: "data in the lock's system is wrong", Because: "one transaction writes, and holds or checks the lock"}
	systems := map[string]bool{}
	for column, lock := range t.Locks {
		kind, _ := locks.Lookup(lock)
		if _, known := t.ownTokens(column); known {
			systems[kind.System] = true
		}
	}
	for _, name := range locks.Names() {
		kind, _ := locks.Lookup(name)
		if systems[kind.System] && (kind.KeepsData || kind.HasDataClient && kind.ChecksOwner && slices.Contains(t.Locks, name)) {
			d.Fit = append(d.Fit, name)
		}
	}
	return d
}

// groups are locks with the same reason, in the order in which the reasons occur.
type groups []struct {
	reason string
	locks  []string
}

// add adds a lock with its reason.
func (g *groups) add(reason, lock string) {
	for i := range *g {
		if (*g)[i].reason == reason {
			(*g)[i].locks = append((*g)[i].locks, lock)
			return
		}
	}
	*g = append(*g, struct {
		reason string
		locks  []string
	}{reason, []string{lock}})
}

// texts returns a text for each reason: the reason, and the locks.
func (g groups) texts() []string {
	var all []string
	for _, one := range g {
		all = append(all, one.reason+": "+story.List(one.locks))
	}
	return all
}

// decisionTable returns the decisions as a table. It has a row for the locks that fit and a
// row for the others, because a few long lines are easier to read than many short ones.
// Both have the need, which heads the row for a screen reader.
func decisionTable(decisions []decision) tallyTable {
	out := table{Heads: heads("two clients at once", "locks", "which, and why"), wraps: true}
	for _, d := range decisions {
		fit := "none"
		if len(d.Fit) > 0 {
			fit = story.List(d.Fit)
		}
		out.add(plainCell(d.Need), plainCell("fit"), plainCell(d.Because+": "+fit))
		if len(d.Others) > 0 {
			out.add(plainCell(d.Need), plainCell("unfit"), plainCell(strings.Join(d.Others, "; ")))
		}
	}
	return tallyTable{Title: "Which lock", Table: out}
}
