package story

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/locksim/locksim/internal/lazy"
)

// This file merges clauses that are similar, so that a timeline becomes shorter. Each function
// reuses the memory of its argument for its result: a run with many clients has so many clauses
// that copying them takes longer than merging them.

// mergeFaultEffects merges the clause that a fault strikes with the clause after it that
// describes what the fault does to a process.
func mergeFaultEffects(clauses []Clause) []Clause {
	kept := clauses[:0]
	for i, c := range clauses {
		if i+1 < len(clauses) && c.isFaultOf(clauses[i+1]) {
			continue
		}
		if i > 0 && clauses[i-1].isFaultOf(c) {
			c.Predicate += " (" + clauses[i-1].Subject + ")"
			c.First = clauses[i-1].First
		}
		kept = append(kept, c)
	}
	return kept
}

// isFaultOf reports whether the clause says that a fault strikes or ends, and effect what
// that fault does to a process.
func (c Clause) isFaultOf(effect Clause) bool {
	return c.Part == FaultStrikes && effect.Part == FaultActs && (effect.fault == 0 || effect.fault == c.fault)
}

// dropStepEdges drops the beginning of a step if the next clause is about the same step. It
// also drops the end of a step if the clause before it already shows the storage's answer.
func dropStepEdges(clauses []Clause) []Clause {
	kept := clauses[:0]
	for i, c := range clauses {
		next := i+1 < len(clauses) && clauses[i+1].OfStep == c.OfStep
		previous := i > 0 && clauses[i-1].OfStep == c.OfStep && clauses[i-1].Part == StorageAnswers
		switch {
		case c.OfStep != (Step{}) && c.Part == StepBegins && next:
			clauses[i+1].First, clauses[i+1].BeginPredicate = c.First, c.Predicate
		case c.OfStep != (Step{}) && c.Part == StepEnds && previous:
			kept[len(kept)-1].Last = c.Last
		default:
			kept = append(kept, c)
		}
	}
	return kept
}

// mergeNeighbours merges neighbouring clauses that have the same merge key: they say the same
// about several processes.
func mergeNeighbours(clauses []Clause) []Clause {
	folded := clauses[:0]
	for _, c := range clauses {
		if n := len(folded); n > 0 && c.mergeKey != "" && folded[n-1].mergeKey == c.mergeKey {
			folded[n-1].items = append(folded[n-1].items, c.items...)
			folded[n-1].addDeeds(c.deeds)
			folded[n-1].Last, folded[n-1].Until = c.Last, c.At
			continue
		}
		c.items = slices.Clone(c.items)
		folded = append(folded, c)
	}
	for i, c := range folded {
		if len(c.items) > 1 {
			folded[i].Predicate = Raw(c.merge(c.items))
			if c.Until-c.At >= Silence {
				folded[i].Predicate += Raw(fmt.Sprintf("; %s at %s", lastOf(c.items), Moment(c.Until, 3)))
			}
		}
	}
	return folded
}

// lastOf returns a phrase for the last of several events. items has the thing that each event is
// about, such as the node on which a key expired. The phrase is "the last of them" if all things
// differ, and "the last time" if one occurs twice.
func lastOf(items []string) string {
	for i, item := range items {
		if slices.Contains(items[:i], item) {
			return "the last time"
		}
	}
	return "the last of them"
}

// mergeClients merges clauses in which at least three clients do the same in quick
// succession, such as asking for the lock.
func mergeClients(clauses []Clause) []Clause {
	const fewest = 3
	kept := clauses[:0]
	for i := 0; i < len(clauses); {
		end, clients := i, []string{}
		for end < len(clauses) && continuesSeries(clauses[i:end+1]) {
			if !slices.Contains(clients, string(clauses[end].Subject)) {
				clients = append(clients, string(clauses[end].Subject))
			}
			end++
		}
		if len(clients) < fewest { // and a series that begins later here has no more
			end = max(end, i+1)
			kept = append(kept, clauses[i:end]...)
			i = end
			continue
		}
		all := clauses[i]
		all.deeds = slices.Clone(all.deeds)
		for _, c := range clauses[i+1 : end] {
			all.deeds = append(all.deeds, c.deeds...)
		}
		all.Last, all.Until = clauses[end-1].Last, clauses[end-1].At
		all.Subject = Raw(Count(len(clients), "client"))
		all.OfStep, all.Part, all.BeginPredicate, all.IsAboutPossession, all.mergeKey, all.items = Step{}, WholeStep, "", false, "", nil
		all.Predicate = "each " + cmp.Or(all.eachPredicate, all.Predicate)
		all.Predicate += " (" + Raw(abbreviateNames(clients, 4)) + ")"
		if n := end - i; n > len(clients) {
			all.Predicate += Raw(fmt.Sprintf("; together %d times until %s", n, Moment(all.Until, 3)))
		}
		kept = append(kept, all)
		i = end
	}
	return kept
}

// abbreviateNames lists names. If there are more than most, it lists only the first two,
// and says how many more there are.
func abbreviateNames(names []string, most int) string {
	if n := len(names); n > most {
		names = append(names[:2:2], fmt.Sprintf("%d more", n-2))
	}
	return List(names)
}

// continuesSeries reports whether the last clause continues the series that the first one begins:
// it has the same predicate and mood, and it follows the clause before it within Silence.
func continuesSeries(clauses []Clause) bool {
	first, last := clauses[0], clauses[len(clauses)-1]
	return (last.OfStep != (Step{}) || last.eachPredicate != "") && last.Part != StorageAnswers && last.Predicate == first.Predicate && last.Mood == first.Mood &&
		(len(clauses) == 1 || last.At-clauses[len(clauses)-2].At < Silence)
}

// mergeRepetitions shortens a sequence of clauses that repeats, such as the attempts to get
// a lock whose nodes are down, or a holder that renews its lock while another client asks for
// it: it keeps the first round and then says how often it repeats. Rounds may differ in times.
func mergeRepetitions(clauses []Clause) []Clause {
	const longest, fewest = 8, 3
	kinds := make([]Raw, len(clauses))
	for i, c := range clauses {
		kinds[i] = c.kind()
	}
	kept := clauses[:0]
	for i := 0; i < len(clauses); {
		length, times := 0, 0
		for n := 1; n <= longest && times < fewest; n++ {
			length, times = n, 1
			for end := i + (times+1)*n; end <= len(clauses) && slices.Equal(kinds[i:i+n], kinds[end-n:end]); end += n {
				times++
			}
		}
		if times < fewest {
			kept = append(kept, clauses[i])
			i++
			continue
		}
		repeats := clauses[i+length : i+times*length]
		isExact := true
		for j, c := range repeats {
			isExact = isExact && c.Predicate == clauses[i+j%length].Predicate
		}
		first, last := repeats[0].First, repeats[len(repeats)-1]
		kept = append(kept, clauses[i:i+length]...)
		i += times * length
		subject, predicate := describeRepetition(kept[len(kept)-length:], times-1, isExact)
		kept = append(kept, Clause{At: last.End(), Subject: subject, First: first, Last: last.Last, IsRepetition: true, Mood: DetailMood, Predicate: predicate})
	}
	return kept
}

// kind returns a text that is equal for clauses that differ only in times, and in how often
// something happened.
func (c Clause) kind() Raw {
	return c.Subject + "\x00" + Raw(timesInARow().ReplaceAllString(withoutTimes(string(c.Predicate)), ""))
}

// timesInARow matches how often a merged clause happened.
var timesInARow = lazy.Regexp(`\b[0-9]+ times\b`)

// describeRepetition returns the subject and the predicate of the clause that says how
// often the given clauses repeat. isExact says that the repetitions differ in nothing but
// when they happened.
func describeRepetition(round []Clause, more int, isExact bool) (subject, predicate Raw) {
	times := Count(more, "more time")
	rows := fmt.Sprintf("the %d rows from %s to %s", len(round), Moment(round[0].At, 3), Moment(round[len(round)-1].At, 3))
	switch {
	case len(round) == 1 && isExact:
		return round[0].Subject, Raw(fmt.Sprintf("the same as in the row above, %s until here", times))
	case len(round) == 1:
		return round[0].Subject, Raw(fmt.Sprintf("much the same as in the row above, %s until here", times))
	case isExact:
		return "", Raw(fmt.Sprintf("%s happened %s until here", rows, times))
	}
	return "", Raw(fmt.Sprintf("much like %s, %s until here", rows, times))
}
