package checks

import "fmt"

// WriteOrder is violated when, on one object, a write of an older grant
// replaced a newer grant's write that its own section had not read when it sent
// the write. It is judged by the oracle's order of grants in every run,
// whatever token was carried.
const WriteOrder Property = "write-order"

var writeOrder = property{
	name:  WriteOrder,
	title: "no write replaces a newer grant's write unseen",
	data:  true,
	judge: judgeWriteOrder,
}

func judgeWriteOrder(h *history) Finding {
	if !h.ranked() {
		return unknown(noRanks)
	}
	for _, v := range h.versions {
		was := v.replaced
		if was.made == nil || v.by.granted == nil || was.by.granted == nil {
			continue
		}
		if v.by.lock == was.by.lock && v.by.rank() < was.by.rank() && !v.by.hadRead(was, v.issued) {
			return Finding{
				Outcome: Violated, At: v.made.Seq, Events: []int{was.made.Seq, v.made.Seq},
				Reason: fmt.Sprintf("%s's write of %s at %v replaced the one that %s, which held a newer grant, had made at %v",
					h.name(v.by), v.object, v.made.At, h.name(was.by), was.made.At),
			}
		}
	}
	return holds()
}
