package checks

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/history"
)

// A reason is told in somebody's own figures, which no name that looks like one has to do
// with, and begins a sentence with a capital letter unless a name is first.
func TestReasonsAreToldInAVoice(t *testing.T) {
	v := Voice{
		Time:  func(d time.Duration) string { return strconv.Itoa(int(d.Seconds())) + " seconds" },
		Token: func(t Token) string { return "…" + strconv.Itoa(int(t%10)) },
	}
	for _, c := range []struct {
		reason             Reason
		told, begun, plain string
	}{
		{
			Because(TokenNotGreater, "client-2", "12345678901", Token(12345678901), Token(12345678907), 3*time.Second),
			"client-2 was granted the lock after 12345678901, yet its fencing token …1 is not greater than …7; both were out at 3 seconds",
			"client-2 was granted the lock after 12345678901, yet its fencing token …1 is not greater than …7; both were out at 3 seconds",
			"client-2 was granted the lock after 12345678901, yet its fencing token 12345678901 is not greater than 12345678907; both were out at 3s",
		},
		{
			Because(TouchedForeignKey, 2*time.Second, "a", "removed", "1500ms", "redis-1", "at").And(BySentLater).And(EverybodyIn),
			`at 2 seconds a removed the key "1500ms" on redis-1, which had been set for at by a command that it sent later; there is no lock: everybody is let in`,
			`At 2 seconds a removed the key "1500ms" on redis-1, which had been set for at by a command that it sent later; there is no lock: everybody is let in`,
			`at 2s a removed the key "1500ms" on redis-1, which had been set for at by a command that it sent later; there is no lock: everybody is let in`,
		},
		{
			Because(PropertyDiffers, "progress", "is unknown", "holds").And(AsItIsSaid, Because(CutOffTooEarly, history.Moment{At: time.Minute}, history.Never)),
			"progress is unknown, expected holds: the run was cut off at 60 seconds, before the bound for progress at " + history.Never.String(),
			"progress is unknown, expected holds: the run was cut off at 60 seconds, before the bound for progress at " + history.Never.String(),
			"progress is unknown, expected holds: the run was cut off at 1m0s, before the bound for progress at " + history.Never.String(),
		},
		{Reason{}, "", "", ""},
	} {
		if got := c.reason.Told(v); got != c.told {
			t.Errorf("told:\n%s\nwant\n%s", got, c.told)
		}
		if got := c.reason.Begun(v); got != c.begun {
			t.Errorf("begun:\n%s\nwant\n%s", got, c.begun)
		}
		if got := c.reason.String(); got != c.plain {
			t.Errorf("plain:\n%s\nwant\n%s", got, c.plain)
		}
	}
}

// Only what continues a sentence begins as no sentence does.
func TestReasonsThatContinue(t *testing.T) {
	for code, text := range sentences {
		if begins := strings.ContainsRune(" :,", rune(text[0])); begins != continues[code] {
			t.Errorf("%s: %q", code, text)
		}
	}
}
