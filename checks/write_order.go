package checks

// WriteOrder is violated when, on one object, a write of an older grant replaced a write of a newer
// grant. A write does not count if its critical section had read the newer write before it sent its
// own. The order of grants is that of the oracle (see [history.Oracle]), which orders them as a
// perfect lock service would have made them. The tokens of the writes do not matter.
const WriteOrder Property = "write-order"

var writeOrder = property{
	Card: Card{
		Property: WriteOrder, Subject: SubjectData, Gravity: 2,
		Title:  "no client overwrites a write of a newer grant, unless it has read that write in the same critical section",
		Broken: "an older grant's write replaces a newer grant's write",
		Label:  "data", Meaning: "the stored data is wrong",
	},
	judge: judgeWriteOrder,
}

func judgeWriteOrder(h *judgedRun) Finding {
	if !h.HasRanks() {
		return unknown(noRanks.Reason())
	}
	for _, v := range h.Versions() {
		was := v.Replaced
		if was.Made == nil || v.By.Granted == nil || was.By.Granted == nil {
			continue
		}
		if v.By.Lock == was.By.Lock && v.By.Rank() < was.By.Rank() && !v.By.KnewVersion(was, v.Issued) {
			return Finding{
				Outcome: Violated, At: v.Made.Seq, Events: []int{was.Made.Seq, v.Made.Seq},
				Reason: replacedUnseen.Reason(h.Name(v.By), v.Object, v.Made.At, h.Name(was.By), was.Made.At),
			}
		}
	}
	return holds()
}
