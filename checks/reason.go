package checks

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/history"
)

// A Reason is why something is as it is said to be: a code, and what it is about. In
// English it is one sentence without a full stop.
type Reason struct {
	Code Code
	// Args are the arguments of the code, in a fixed order: names of processes and of
	// sections, [time.Duration] and [history.Moment] of true time, each [Token], numbers, texts
	// and reasons.
	Args []any
	// More is what there is to be said besides.
	More []Reason
}

// A Code says what a [Reason] is. The comments name the arguments.
type Code string

const (
	// Why a property does not apply, or why nobody can tell.
	NoLock           Code = "no-lock"
	EverybodyIn      Code = "everybody-in"
	SeveralIn        Code = "several-in"
	NoSchedule       Code = "no-schedule"
	RoomFor          Code = "room-for" // how many
	NoRanks          Code = "no-ranks"
	NoKeysTold       Code = "no-keys-told"
	TokensUnordered  Code = "tokens-unordered"
	NoTokens         Code = "no-tokens"
	TokensOfOracle   Code = "tokens-of-oracle"
	NobodyWanted     Code = "nobody-wanted"
	OverBeforeFault  Code = "over-before-fault" // number of the fault
	CutOffTooEarly   Code = "cut-off-too-early" // when, the bound for progress
	NotCrossChecked  Code = "not-cross-checked" //
	WitnessUnseen    Code = "witness-unseen"    // the witness
	InDoubt          Code = "in-doubt"          // why, as the trace has it
	FaultIdle        Code = "fault-idle"        // number, text of the fault, why
	CheckersDisagree Code = "checkers-disagree" // outcome, porcupine's opinion
	NothingToCompare Code = "nothing-to-compare"
	ReleaseDisturbed Code = "release-disturbed" // section, error when, removed when
	ReleaseUnderWay  Code = "release-under-way" // section

	// Where a run differs from what is expected of it.
	VerdictDiffers   Code = "verdict-differs"   // verdict, expected
	PropertyDiffers  Code = "property-differs"  // property, what it is, expected
	AsItIsSaid       Code = "as-it-is-said"     // the reason given for it
	MissedUnexpected Code = "missed-unexpected" // the reason given for it
	MissedNot        Code = "missed-not"        // period

	// What the lock did.
	GrantedWhileLeased   Code = "granted-while-leased"   // section, when, other, granted when, until
	ProlongedAsIfAlone   Code = "prolonged-as-if-alone"  // section, granted when, prolonged when, other, granted when
	EnteredWhileInside   Code = "entered-while-inside"   // section, when, other, from, until
	TokenNotGreater      Code = "token-not-greater"      // younger, older, its token, older token, when
	TouchedForeignKey    Code = "touched-foreign-key"    // when, acquisition, verb, key, node, owner
	GrantedByNobody      Code = "granted-by-nobody"      // sections
	EndedWhenGranted     Code = "ended-when-granted"     // section
	ProlongedTooLate     Code = "prolonged-too-late"     // when, section, until
	ToldTooLate          Code = "told-too-late"          // section, lease over when, told when
	NeverTold            Code = "never-told"             // section, lease over when
	BySentLater          Code = "by-sent-later"          //
	ReleasedLost         Code = "released-lost"          // section, success when, what had ended its last key, node, when
	ReleasedNothing      Code = "released-nothing"       // section, success when, nodes
	ReleasedDespiteError Code = "released-despite-error" // section, error when, node, removed when
	RanOnWhilePaused     Code = "ran-on-while-paused"    // client
	OnlyTurnsTaken       Code = "only-turns-taken"       //
	NoProgress           Code = "no-progress"            // until, client
	NoProgressSince      Code = "no-progress-since"      // last fault, until, client
	NeverEnded           Code = "never-ended"            // when, client
	LockDidNotAnswer     Code = "lock-did-not-answer"    // step
	UnheardOf            Code = "unheard-of"             // client, server
	QuorumInReach        Code = "quorum-in-reach"        // client, how many keys, of how many, how many are a quorum
	MembersInReach       Code = "members-in-reach"       // client, how many members, of how many, how many are most
	StorageTurnedAway    Code = "storage-turned-away"    // client, how, step, when
	ClockHadNotCounted   Code = "clock-had-not-counted"  // client, granted when
	WaitsForOther        Code = "waits-for-other"        // client, its lock, the lock that it waits for, who has that
	LeaseOverBeforeDone  Code = "lease-over-before-done" // client, granted when, over when

	// What became of the data.
	WroteAfterGrant        Code = "wrote-after-grant"         // section, object, when, other, granted when
	ReplacedUnseen         Code = "replaced-unseen"           // section, object, when, other, made when
	ComputedFromStale      Code = "computed-from-stale"       // section, when, version read, version replaced
	UpdateLost             Code = "update-lost"               // section, made when
	WriteMissing           Code = "write-missing"             // section, told when, version, seen when, object, how seen, number
	OfSomebodyElse         Code = "of-somebody-else"          //
	NotOneAfterOther       Code = "not-one-after-other"       // section, section
	NotAlone               Code = "not-alone"                 // section
	EndedBeforeBegin       Code = "ended-before-began"        // section, ended when, section, began when
	WroteWhatOtherRead     Code = "wrote-what-other-read"     // section, version, section
	WroteWhatOtherReplaced Code = "wrote-what-other-replaced" // section, version, section
	ReadWhatOtherReplaced  Code = "read-what-other-replaced"  // section, version, section
	BothReplaced           Code = "both-replaced"             // section, version, section
	OwnWriteGone           Code = "own-write-gone"            // section, version
	TornByRefusals         Code = "torn-by-refusals"          // applied, refused
	TornByDeparture        Code = "torn-by-departure"         // how it ended
	TornInPart             Code = "torn-in-part"              // begun, applied
	ManyNotOneByOne        Code = "many-not-one-by-one"       // how many, section
	RanTwice               Code = "ran-twice"                 // section, period, when, section, when
	NotAtOnce              Code = "not-at-once"               //
	NobodyRan              Code = "nobody-ran"                // period, begun when
	HadBegun               Code = "had-begun"                 // section, how it ended
	TwiceIsHarmless        Code = "twice-is-harmless"         //
	RanInVain              Code = "ran-in-vain"               // period, how often, time
	AllRun                 Code = "all-run"                   //

	// What a run took.
	NobodyAsked        Code = "nobody-asked"         //
	NobodyDied         Code = "nobody-died"          //
	NobodyGrantedAfter Code = "nobody-granted-after" // client
	NoNodes            Code = "no-nodes"             //
	NoCluster          Code = "no-cluster"           //
	NothingProlonged   Code = "nothing-prolonged"    //
	MostAfterRelease   Code = "most-after-release"   // how many
	NoTraffic          Code = "no-traffic"           //
	Messages           Code = "messages"             // how many, in how many round trips
	MessagesPerRelease Code = "messages-per-release" // how many, in how many round trips
	Bytes              Code = "bytes"                // how many
	BytesPerRelease    Code = "bytes-per-release"    // how many
	NothingOver        Code = "nothing-over"         //
	OfTheTTL           Code = "of-the-ttl"           // per cent
	LeastLeft          Code = "least-left"           // length of time
	NothingReleased    Code = "nothing-released"     //
	FoundNothing       Code = "found-nothing"        // how many
	NothingLost        Code = "nothing-lost"         //
	NeverNoticed       Code = "never-noticed"        // how many
	OthersNeverNoticed Code = "others-never-noticed" // how many
	NobodyCompeted     Code = "nobody-competed"      //
	JainsIndex         Code = "jains-index"          // per cent
	MostOvertaken      Code = "most-overtaken"       // how many
	NoMajority         Code = "no-majority"          //
	NothingAsked       Code = "nothing-asked"        //
	NothingDecided     Code = "nothing-decided"      //
	JustThat           Code = "just-that"            // what
	MedianAndLongest   Code = "median-and-longest"   // two lengths of time
	LongestOfDead      Code = "longest-of-dead"      // length of time, how many
	NeverGranted       Code = "never-granted"        // how many
	OthersNeverGranted Code = "others-never-granted" // how many
	OfWhichFailed      Code = "of-which-failed"      // how many, of these
	OfFailedAttempts   Code = "of-failed-attempts"   // how many, of how many
	OfRequests         Code = "of-requests"          // refused, of how many; of these reads, of how many; writes, of how many
	OfSections         Code = "of-sections"          // refused, of how many; their time, of which
	PerSectionGranted  Code = "per-section-granted"  // how many
	PerMinute          Code = "per-minute"           // how many
)

// A Token is a fencing token that a reason is about.
type Token uint64

// continues are the codes that go on with the sentence before them.
var continues = map[Code]bool{
	AsItIsSaid: true, BySentLater: true, UpdateLost: true, OfSomebodyElse: true,
	OthersNeverGranted: true, PerSectionGranted: true, PerMinute: true, MostAfterRelease: true, MessagesPerRelease: true,
	Bytes: true, BytesPerRelease: true, OfTheTTL: true, LeastLeft: true, FoundNothing: true, OthersNeverNoticed: true,
}

// sentences are the codes in English. What begins with an argument begins with a name or a
// number.
var sentences = map[Code]string{
	NoLock:           "the run has no lock",
	EverybodyIn:      "there is no lock: everybody is let in",
	SeveralIn:        "the lock has room for several: a newer grant ends no older one",
	NoSchedule:       "the run has no schedule",
	RoomFor:          "the lock has room for %d",
	NoRanks:          "the run does not say in which order the lock was granted",
	NoKeysTold:       "the lock does not say which keys it keeps",
	TokensUnordered:  "the fencing tokens can only be told apart: they have no order",
	NoTokens:         "no grant came with a fencing token",
	TokensOfOracle:   "the oracle gave the fencing tokens",
	NobodyWanted:     "nobody wanted the lock after the last fault",
	OverBeforeFault:  "the run was over before fault %d was",
	CutOffTooEarly:   "the run was cut off at %v, before the bound for progress at %v",
	NotCrossChecked:  "not cross-checked by porcupine: the history is too large for it",
	WitnessUnseen:    "the witness %q was not seen",
	InDoubt:          "%s",
	FaultIdle:        "fault %d (%s) did not act as the story says: %s",
	CheckersDisagree: "two checkers of the storage's history disagree: by its dependencies " + string(SerialSections) + " %s, but porcupine says that the sections %s",

	NothingToCompare: "no client released a grant that a server knew, and had an answer",
	ReleaseDisturbed: "%s's release returned an error at %v, and had removed the lock at %v, but a fault or a lost answer explains the error",
	ReleaseUnderWay:  "the run ended before all messages of %s's release had arrived",

	VerdictDiffers:   "the verdict is %s, expected %s",
	PropertyDiffers:  "%s %s, expected %s",
	AsItIsSaid:       ": %s",
	MissedUnexpected: "it is not expected that %s",
	MissedNot:        "period %d was run, expected that it is missed",

	GrantedWhileLeased:   "%s was granted the lock at %v, while %s's lease, granted at %v, ran until %v",
	ProlongedAsIfAlone:   "%s's lease, granted at %v, was prolonged at %v as if %s had not been granted the lock at %v",
	EnteredWhileInside:   "%s entered its section at %v, while %s was in its own from %v until %v",
	TokenNotGreater:      "%s was granted the lock after %s, yet its fencing token %v is not greater than %v; both were out at %v",
	TouchedForeignKey:    "at %v %v %s the key %q on %s, which had been set for %v",
	GrantedByNobody:      "the lock let %s in though no node had granted it",
	EndedWhenGranted:     "%s's lease had already ended when it was granted",
	ProlongedTooLate:     "at %v %s was told that its lease was prolonged, until %v",
	ToldTooLate:          "%s's lease was over at %v, and it was told only at %v",
	NeverTold:            "%s's lease was over at %v, and it was not told",
	BySentLater:          " by a command that it sent later",
	ReleasedLost:         "%s's release returned success at %v, but released nothing: its key %s on %s at %v",
	ReleasedNothing:      "%s's release returned success at %v, but did not remove its key on %s",
	ReleasedDespiteError: "%s's release returned an error at %v, but had removed its key on %s at %v",
	RanOnWhilePaused:     "%s ran on while it was paused, so this is not held against the lock",
	OnlyTurnsTaken:       "every attempt met only keys of others who were asking, too, held the lock or had just crashed",
	NoProgress:           "from the start of the run until %v no client completed a section, though %s wanted the lock",
	NoProgressSince:      "from the last fault at %v until %v no client completed a section, though %s wanted the lock",
	NeverEnded:           "the run had to be cut off at %v: %s had not come to its end and nobody else wanted the lock",
	LockDidNotAnswer:     "the lock had not answered its %s",
	MembersInReach:       "%s could reach a member of the cluster that was with %d of its %d, all well, and %d are enough",
	QuorumInReach:        "%s could reach %d of the lock's %d keys, on nodes that were well, and %d are enough",
	UnheardOf:            "%s waits without a deadline for %s, which had lost its power without a word",
	StorageTurnedAway:    "%s was granted it, but the storage %s its %s at %v",
	ClockHadNotCounted:   "%s was granted it at %v, but its clock had not counted the time since it asked",
	WaitsForOther:        "%s has %s and waits for %s, which %s has",
	LeaseOverBeforeDone:  "%s was granted it at %v, but its lease was over at %v, before it was done",

	WroteAfterGrant:        "%s's write of %s was applied at %v, after %s had been granted the lock at %v",
	ReplacedUnseen:         "%s's write of %s at %v replaced the one that %s, which held a newer grant, had made at %v",
	ComputedFromStale:      "%s's write at %v was computed from %v, but replaced %v",
	UpdateLost:             ": the update that %s made at %v is lost",
	WriteMissing:           "%s was told at %v that it had written %v, but at %v %s %s version %d",
	OfSomebodyElse:         " of somebody else",
	NotOneAfterOther:       "%s and %s cannot have run one after the other",
	NotAlone:               "%s cannot have run alone",
	EndedBeforeBegin:       "%s had ended at %v, before %s began at %v",
	WroteWhatOtherRead:     "%s wrote %v, which %s read",
	WroteWhatOtherReplaced: "%s wrote %v, which %s replaced",
	ReadWhatOtherReplaced:  "%s read %v, which %s replaced",
	BothReplaced:           "%s replaced %v, which %s replaced too",
	OwnWriteGone:           "%s wrote %v, and then found it gone",
	TornByRefusals:         "%d of its writes took effect, %d the storage refused",
	TornByDeparture:        "it wrote, and never released: %s",
	TornInPart:             "of its %d writes only %d took effect",
	RanTwice:               "%s ran the job for period %d at %v, and %s had run it at %v",
	NotAtOnce:              "they were not at work at once: a lock only keeps apart who is",
	TwiceIsHarmless:        "the job may be run twice",
	RanInVain:              "for period %d the job was run %d times, where once would have done: %v of work in vain",
	NobodyRan:              "nobody has run the job for %s, which began at %v",
	HadBegun:               "%s had begun with it: %s",
	AllRun:                 "the job has been run for each period for which anybody wanted the lock",
	ManyNotOneByOne:        "%d sections, %s's among them, cannot have run one after the other",

	NobodyAsked:        "nobody asked for the lock",
	NobodyDied:         "no client crashed or hung while it held the lock",
	NobodyGrantedAfter: "nobody was granted the lock after %s had crashed or hung",
	NoNodes:            "there are no nodes",
	NoCluster:          "no lock is kept in a cluster",
	NothingProlonged:   "nobody prolonged anything",
	MostAfterRelease:   ", at most %d after one release",
	NoTraffic:          "no client and no node sent each other anything",
	Messages:           "%d messages in %d round trips",
	MessagesPerRelease: ", per release %d in %d",
	Bytes:              ", %d bytes",
	BytesPerRelease:    ", %d per release",
	NothingOver:        "no section was over",
	OfTheTTL:           ", %d %% of the TTL",
	LeastLeft:          ", at least %v of the lease left at its release",
	NothingReleased:    "nobody released anything",
	FoundNothing:       ", %d found nothing to release",
	NothingLost:        "nobody lost a lease",
	NeverNoticed:       "%d never noticed",
	OthersNeverNoticed: ", %d never noticed",
	NobodyCompeted:     "fewer than two clients wanted the lock",
	JainsIndex:         "Jain's index %d %%",
	MostOvertaken:      "at most %d who asked later came first",
	NoMajority:         "the lock asks for no majority",
	NothingAsked:       "nobody asked anything of the storage",
	NothingDecided:     "the storage decided on no section's writes",
	JustThat:           "%v",
	MedianAndLongest:   "median %v, longest %v",
	LongestOfDead:      "longest %v, %d dead holders",
	NeverGranted:       "%d never granted",
	OthersNeverGranted: ", %d never granted",
	OfWhichFailed:      "%d, of which %d failed",
	OfFailedAttempts:   "%d of %d failed attempts",
	OfRequests:         "%d of %d (%d of %d reads, %d of %d writes)",
	OfSections:         "%d of %d sections, and %v of the %v that they took",
	PerSectionGranted:  ", %d per section granted",
	PerMinute:          ", %d per minute",
}

// Because is a reason.
func Because(code Code, args ...any) Reason { return Reason{Code: code, Args: args} }

// And is the reason with something more to be said.
func (r Reason) And(code Code, args ...any) Reason {
	r.More = append(r.More[:len(r.More):len(r.More)], Because(code, args...))
	return r
}

// roomFor adds for how many the lock has room, if that is not one.
func (r Reason) roomFor(n int) Reason {
	if n < 2 {
		return r
	}
	return r.And(RoomFor, n)
}

// IsZero says that there is no reason.
func (r Reason) IsZero() bool { return r.Code == "" }

// String is the reason in English, with times to the nanosecond.
func (r Reason) String() string { return r.Told(inFull) }

// A Voice is how somebody writes what reasons are about.
type Voice struct {
	Time  func(time.Duration) string
	Token func(Token) string
}

var inFull = Voice{time.Duration.String, func(t Token) string { return strconv.FormatUint(uint64(t), 10) }}

// Told is the reason in English.
func (r Reason) Told(v Voice) string { return r.told(v, sentences[r.Code]) }

// Begun is Told at the beginning of a sentence: with a capital letter, unless a name is
// first.
func (r Reason) Begun(v Voice) string {
	format := sentences[r.Code]
	if format != "" {
		format = strings.ToUpper(format[:1]) + format[1:]
	}
	return r.told(v, format)
}

func (r Reason) told(v Voice, format string) string {
	if r.IsZero() {
		return ""
	}
	args := make([]any, len(r.Args))
	for i, arg := range r.Args {
		switch arg := arg.(type) {
		case time.Duration:
			args[i] = v.Time(arg)
		case Token:
			args[i] = v.Token(arg)
		case Reason:
			args[i] = arg.Told(v)
		case history.Moment:
			args[i] = arg.String()
			if arg != history.Never {
				args[i] = v.Time(arg.At)
			}
		default:
			args[i] = arg
		}
	}
	s := fmt.Sprintf(format, args...)
	for _, more := range r.More {
		if !continues[more.Code] {
			s += "; "
		}
		s += more.Told(v)
	}
	return s
}

// MarshalText writes the reason in English.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }
