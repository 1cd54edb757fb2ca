package quiz

import (
	"github.com/locksim/locksim/checks"
)

// verdictForm asks whether the data is safe without fencing tokens, and with them.
var verdictForm = Form{Name: "safe", Title: "whether the data is safe, without fencing tokens and with them", ask: askVerdict}

func askVerdict(c *Case) *Question {
	q := &Question{
		Text:  "Is the data safe without fencing tokens, and is it safe with them?",
		Terms: "Safe means that no update is lost, that no older write replaces a newer one, and that the result could have come from the same sections, one after the other.",
	}
	for _, pair := range [][2]string{
		{checks.Safe, checks.Safe},
		{checks.Unsafe, checks.Safe},
		{checks.Unsafe, checks.Unsafe},
		{checks.Safe, checks.Unsafe},
	} {
		isOffRight, isOnRight := pair[0] == c.Off.Verdict.Verdict, pair[1] == c.On.Verdict.Verdict
		choice := Choice{Text: pair[0] + " without tokens, " + pair[1] + " with them", IsRight: isOffRight && isOnRight}
		if pair[0] == pair[1] {
			choice.Text = pair[0] + " without tokens and with them"
		}
		switch {
		case choice.IsRight:
		case isOffRight:
			choice.IsClose, choice.Remark = true, "right for the run without tokens, wrong for the run with them"
		case isOnRight:
			choice.IsClose, choice.Remark = true, "wrong for the run without tokens, right for the run with them"
		}
		q.Choices = append(q.Choices, choice)
	}
	return q
}
