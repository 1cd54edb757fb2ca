package explore

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/trace"
)

// named is a process as a sentence names it.
func named(process string) string {
	if process == trace.StorageName {
		return "the storage"
	}
	return process
}

// whose is the owner of something: client-1's, or its if that is whom the sentence is
// about.
func whose(process, subject string) string {
	if process == subject {
		return "its"
	}
	return named(process) + "'s"
}

// who is whoever does something, or "it" if the sentence is about it.
func who(process, subject string) string {
	if process == subject {
		return "it"
	}
	return named(process)
}

// list writes "a", "a and b", "a, b and c".
func list(items []string) string {
	n := len(items)
	if n < 2 {
		return strings.Join(items, "")
	}
	return strings.Join(items[:n-1], ", ") + " and " + items[n-1]
}

// happens is a fault as a clause: who, and what becomes of it.
func (f Fault) happens() (subject, predicate string) {
	lasting := ""
	if f.For > 0 {
		lasting = " for " + tellDuration(f.For)
	}
	switch f.Kind {
	case "pause":
		if f.How == string(trace.Suspend) {
			return f.Target, "is suspended with its machine" + lasting
		}
		return f.Target, "pauses" + lasting
	case "crash":
		switch trace.Crash(f.How) {
		case trace.PowerLoss:
			return f.Target, "loses its power"
		case trace.Shutdown:
			return f.Target, "is shut down"
		case trace.FailOver:
			return f.Target, "loses its machine"
		}
		return f.Target, "crashes"
	case "jump":
		way := "ahead"
		if f.By < 0 {
			way = "back"
		}
		return named(f.Target) + "'s clock", fmt.Sprintf("jumps %s by %s", way, tellDuration(f.By.Abs()))
	case "partition":
		return f.Target, "cannot reach " + list(everyOne(f.Others)) + lasting
	case "reset":
		return fmt.Sprintf("the connection between %s and %s", named(f.Target), list(everyOne(f.Others))), "is cut"
	case "delay":
		between := fmt.Sprintf("each message between %s and %s", named(f.Target), list(everyOne(f.Others)))
		return between, fmt.Sprintf("takes %s longer%s", tellDuration(f.By), strings.Replace(lasting, " for ", ", for the next ", 1))
	case "hold":
		return "the network", "holds back " + theMessage(f) + lasting
	case "stall":
		return trace.StorageName, fmt.Sprintf("stalls in the middle of %s's %s%s", f.Target, cmp.Or(f.Step, trace.Write), lasting)
	case "promote":
		return f.Target, "takes over from its master"
	case "fail":
		return f.Target, "answers every command with an error" + lasting
	}
	return f.Target, fmt.Sprintf("suffers a %s%s", f.Kind, lasting)
}

// everyOne are processes as a sentence names them.
func everyOne(processes []string) []string {
	all := make([]string, len(processes))
	for i, p := range processes {
		all[i] = named(p)
	}
	return all
}

// theMessage is the message that a hold holds back. Of a fault that waits for a moment
// the count begins there.
func theMessage(f Fault) string {
	m, nth, ok := heldMessage(f)
	if !ok {
		return f.Target
	}
	which, since := "", ""
	if nth > 1 {
		which = ordinal(nth) + " "
		if f.Before+f.When != "" {
			since = " from then on"
		}
	}
	step := ""
	if m.Step != "" {
		step = string(m.Step) + " "
	}
	switch {
	case m.Reply && m.Step != "":
		return fmt.Sprintf("%s's %sreply to %s's %s%s", named(m.Peer), which, named(m.Client), m.Step, since)
	case m.Reply:
		return fmt.Sprintf("%s's %sreply to %s%s", named(m.Peer), which, named(m.Client), since)
	}
	return fmt.Sprintf("%s's %s%srequest to %s%s", named(m.Client), which, step, named(m.Peer), since)
}

// strikes says when a fault begins, in a sentence about some process: "just before
// its write". A fault of the start of the run strikes "".
func (f Fault) strikes(subject string) string {
	switch {
	case f.Before != "":
		p, err := trace.ParseStepPoint(f.Before)
		if err != nil {
			return "before " + f.Before
		}
		return fmt.Sprintf("just before %s %s%s", who(p.Client, subject), beginnings[p.Step], times(p.Nth))
	case f.When != "":
		var points []string
		for point := range strings.SplitSeq(f.When, " or ") {
			points = append(points, pointInWords(point, subject))
		}
		return strings.Join(points, ", or ")
	}
	return ""
}

// beginnings are what a client does that begins a step.
var beginnings = map[trace.Step]string{
	trace.Acquire: "asks for the lock", trace.Mint: "asks for a token", trace.Mark: "sends its mark", trace.Read: "reads",
	trace.Work: "starts to work", trace.Check: "checks its lease", trace.Write: "writes", trace.Extend: "extends its lease",
	trace.Release: "releases",
}

// participles are what a client that did something has done by then.
var participles = map[string]string{
	"acquired": "has the lock", "failed to acquire": "has failed to get the lock",
	"minted": "has its token", "marked": "has sent its mark", "read": "has read",
	"worked": "has done its work", "checked": "has checked its lease", "wrote": "has written",
	"extended": "has extended its lease", "released": "has released", "cancelled": "has cancelled its call",
	"was refused": "has been refused", "gave up": "has given up on its request", "finished": "has finished",
	"paused": "is paused", "resumed": "has resumed", "crashed": "has crashed", "restarted": "has restarted",
	"synced": "has written to its disk", "was promoted": "has been promoted",
}

var (
	keyExpiredOn = regexp.MustCompile(`^(\S+)'s key expired on (\S+)$`)
	keysExpired  = regexp.MustCompile(`^(\S+)'s keys expired$`)
	clockJumped  = regexp.MustCompile(`^(\S+)'s clock jumped$`)
	holdsKey     = regexp.MustCompile(`^(\S+) holds (\S+)$`)
	served       = regexp.MustCompile(`^storage (applied|refused|checked) (\S+)'s (\S+)$`)
	nthTime      = regexp.MustCompile(`^(.*), (\d+)(?:st|nd|rd|th) time$`)
)

// cutNth splits ", 2nd time" off; nth is 0 where there is none.
func cutNth(s string) (head string, nth int) {
	m := nthTime.FindStringSubmatch(s)
	if m == nil {
		return s, 0
	}
	nth, err := strconv.Atoi(m[2])
	if err != nil {
		return s, 0
	}
	return m[1], nth
}

// pointInWords is a point of the story as a clause of time, in a sentence about some
// process.
func pointInWords(point, subject string) string {
	if delay, rest, ok := strings.Cut(point, " after "); ok {
		if rest == "the start" {
			return delay + " after the start"
		}
		return delay + " after " + strings.TrimPrefix(strings.TrimPrefix(pointInWords(rest, subject), "as "), "once ")
	}
	point, nth := cutNth(point)
	again := ""
	if nth > 1 {
		again = " for the " + ordinal(nth) + " time"
	}
	if head, ok := strings.CutSuffix(point, " is in flight"); ok {
		if m, err := trace.ParseMessage(head); err == nil {
			return messageSent(m, nth, subject)
		}
	}
	if head, ok := strings.CutSuffix(point, " arrived"); ok {
		if m, err := trace.ParseMessage(head); err == nil {
			return messageArrives(m, nth, subject)
		}
	}
	switch {
	case keyExpiredOn.MatchString(point):
		m := keyExpiredOn.FindStringSubmatch(point)
		return fmt.Sprintf("as %s key on %s expires%s", whose(m[1], subject), m[2], again)
	case keysExpired.MatchString(point):
		return fmt.Sprintf("as %s keys expire%s", whose(keysExpired.FindStringSubmatch(point)[1], subject), again)
	case clockJumped.MatchString(point):
		return fmt.Sprintf("as %s clock jumps%s", whose(clockJumped.FindStringSubmatch(point)[1], subject), again)
	case holdsKey.MatchString(point):
		m := holdsKey.FindStringSubmatch(point)
		return fmt.Sprintf("as %s key is set on %s%s", whose(m[1], subject), who(m[2], subject), again)
	case served.MatchString(point):
		m := served.FindStringSubmatch(point)
		return fmt.Sprintf("once %s has %s %s %s%s", who(trace.StorageName, subject), m[1], whose(m[2], subject), m[3], again)
	}
	process, verb, _ := strings.Cut(point, " ")
	if has, ok := participles[verb]; ok {
		return fmt.Sprintf("once %s %s%s", who(process, subject), has, again)
	}
	return "when " + point + again
}

// messageSent is the moment at which the nth such message sets out.
func messageSent(m trace.Message, nth int, subject string) string {
	switch {
	case m.Reply && m.Step != "":
		return fmt.Sprintf("as %s answers %s %s", who(m.Peer, subject), whose(m.Client, subject), stepNth(m.Step, nth))
	case m.Reply:
		return fmt.Sprintf("as %s answers %s%s", who(m.Peer, subject), named(m.Client), times(nth))
	case m.Step != "":
		return fmt.Sprintf("as %s sends its %s request to %s", who(m.Client, subject), stepNth(m.Step, nth), named(m.Peer))
	}
	return fmt.Sprintf("as %s sends a request to %s%s", who(m.Client, subject), named(m.Peer), times(nth))
}

// messageArrives is the moment at which the nth such message is delivered.
func messageArrives(m trace.Message, nth int, subject string) string {
	switch {
	case m.Reply && m.Step != "":
		return fmt.Sprintf("as %s answer to %s %s arrives", whose(m.Peer, subject), whose(m.Client, subject), stepNth(m.Step, nth))
	case m.Reply:
		return fmt.Sprintf("as %s answer to %s arrives%s", whose(m.Peer, subject), named(m.Client), times(nth))
	case m.Step != "":
		return fmt.Sprintf("as %s %s request reaches %s", whose(m.Client, subject), stepNth(m.Step, nth), who(m.Peer, subject))
	}
	return fmt.Sprintf("as a request of %s reaches %s%s", who(m.Client, subject), who(m.Peer, subject), times(nth))
}

func stepNth(step trace.Step, nth int) string {
	if nth > 1 {
		return ordinal(nth) + " " + string(step)
	}
	return string(step)
}

func times(nth int) string {
	if nth > 1 {
		return " for the " + ordinal(nth) + " time"
	}
	return ""
}

// ordinal is first, second, third and so on.
func ordinal(n int) string {
	words := []string{"zeroth", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"}
	if n >= 0 && n < len(words) {
		return words[n]
	}
	return figure(n)
}

// figure is 1st, 2nd, 3rd and so on.
func figure(n int) string {
	suffix := "th"
	if tens := n % 100; tens < 11 || tens > 13 {
		suffix = cmp.Or(map[int]string{1: "st", 2: "nd", 3: "rd"}[n%10], suffix)
	}
	return strconv.Itoa(n) + suffix
}

// roughly is a length of time in the story: to a tenth of a second, or to the
// millisecond if it is shorter than that.
func roughly(d time.Duration) string {
	if d >= time.Second {
		return tellDuration(d.Round(100 * time.Millisecond))
	}
	return tellDuration(d.Round(time.Millisecond))
}
