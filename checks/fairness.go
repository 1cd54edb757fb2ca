package checks

import (
	"slices"

	"github.com/locksim/locksim/history"
)

// fairness measures how evenly the clients that want a lock are granted it. Jain's index is
// computed from the number of grants of each client that asked. It is 100 % if all clients were
// granted the lock equally often, and 100/n % if one of n clients was granted it every time: R.
// Jain, D. Chiu and W. Hawe, "A Quantitative Measure of Fairness and Discrimination for Resource
// Allocation in Shared Computer Systems" (1984, https://arxiv.org/abs/cs/9809099). The index does
// not depend on the order of the grants. The second figure does: a later request that is granted
// the lock first overtakes an earlier one. The figure is the greatest number of times that one
// request was overtaken. The measure means little for a run that ends when all clients are done,
// because then each client has been granted the lock as often as it wanted.
var fairness = measure{
	name:     "fairness",
	title:    "how evenly the lock was granted to the clients that asked, as Jain's index, and by how many later requests one request was overtaken",
	headline: []string{"Jain index", "most overtaken"},
	take:     takeFairness,
}

func takeFairness(h *judgedRun) Measure {
	granted := map[string]int64{}
	for _, w := range h.waits() {
		n := granted[w.Client]
		if w.Granted != nil {
			n++
		}
		granted[w.Client] = n
	}
	if len(granted) < 2 {
		return noMeasure(nobodyCompeted.Reason())
	}
	asked := map[string][]int{} // by lock: the Seqs of the requests that have been granted, in order
	overtaken := 0
	for _, w := range h.waitsByGrant() {
		before := asked[w.Lock]
		at, _ := slices.BinarySearch(before, w.Asked.Seq)
		overtaken = max(overtaken, len(before)-at)
		if w.Granted != nil {
			asked[w.Lock] = slices.Insert(before, at, w.Asked.Seq)
		}
	}
	var sum, squares int64
	for _, n := range granted {
		sum += n
		squares += n * n
	}
	m := Measure{Figures: []Figure{{"most overtaken", Count, int64(overtaken)}}, Summary: mostOvertaken.Reason(overtaken)}
	if sum > 0 {
		index := ratio(100*sum*sum, int64(len(granted))*squares)
		m.Figures = append([]Figure{{"Jain index", Percent, index}}, m.Figures...)
		m.Summary = jainsIndex.Reason(index).And(mostOvertaken.Reason(overtaken))
	}
	return m
}

// waitsByGrant returns the waits for the lock in the order of their grants. Waits that were
// never granted come last.
func (h *judgedRun) waitsByGrant() []wait {
	all := h.waits()
	grantSeq := func(w wait) int {
		if w.Granted == nil {
			return history.Never.Seq
		}
		return w.Granted.Seq
	}
	slices.SortStableFunc(all, func(a, b wait) int {
		if x, y := grantSeq(a), grantSeq(b); x != y {
			return x - y
		}
		return a.Asked.Seq - b.Asked.Seq
	})
	return all
}
