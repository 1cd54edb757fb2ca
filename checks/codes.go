package checks

import (
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// The codes of all reasons, each with the types of its arguments. The comments name the
// arguments. Package internal/story has a sentence for each code.
const (
	// Why a property does not apply, or why its outcome is unknown.
	noLock              code0                                       = "no-lock"
	grantsEveryone      code0                                       = "everybody-in"
	severalHolders      code0                                       = "several-in"
	noSchedule          code0                                       = "no-schedule"
	roomFor             code1[int]                                  = "room-for" // how many
	noRanks             code0                                       = "no-ranks"
	keysUnknown         code0                                       = "no-keys-told"
	tokensUnordered     code0                                       = "tokens-unordered"
	noTokens            code0                                       = "no-tokens"
	tokensOfOracle      code0                                       = "tokens-of-oracle"
	nobodyWanted        code0                                       = "nobody-wanted"
	overBeforeFault     code1[int]                                  = "over-before-fault"    // number of the fault
	cutOffTooEarly      code2[time.Duration, history.Moment]        = "cut-off-too-early"    // when, the bound for progress
	cutOffInFault       code2[time.Duration, int]                   = "cut-off-in-fault"     // when, number of the fault
	cutOffBeforeFault   code2[time.Duration, int]                   = "cut-off-before-fault" // when, number of the fault
	cutOffBeforeStart   code2[time.Duration, string]                = "cut-off-before-start" // when, client
	cutOffAtWork        code2[time.Duration, string]                = "cut-off-at-work"      // when, client
	cutOffWaiting       code2[time.Duration, string]                = "cut-off-waiting"      // when, client
	nobodyEntered       code0                                       = "nobody-entered"
	nobodyWrote         code0                                       = "nobody-wrote"
	notCrossChecked     code0                                       = "not-cross-checked"
	witnessUnseen       code1[string]                               = "witness-unseen"        // the witness
	InDoubt             code1[string]                               = "in-doubt"              // why, from the trace
	endedEarly          code1[string]                               = "ended-early"           // why
	endedByProgram      code1[string]                               = "ended-by-program"      // why
	faultIdle           code3[int, string, string]                  = "fault-idle"            // number, text of the fault, why
	porcupineFindsNone  code1[Outcome]                              = "porcupine-finds-none"  // outcome
	porcupineFindsOrder code1[Outcome]                              = "porcupine-finds-order" // outcome
	nothingToCompare    code0                                       = "nothing-to-compare"
	releaseDisturbed    code3[string, time.Duration, time.Duration] = "release-disturbed" // section, error when, removed when
	releaseUnderWay     code1[string]                               = "release-under-way" // section

	// Differences between a run and what the scenario expects.
	VerdictDiffers   code2[string, string]    = "verdict-differs"   // verdict, expected
	NotViolated      code2[Property, Outcome] = "not-violated"      // property, outcome
	NotHeld          code2[Property, Outcome] = "not-held"          // property, outcome
	PropertyHolds    code1[Property]          = "property-holds"    // property
	AsStated         code1[Reason]            = "as-it-is-said"     // the stated reason
	MissedUnexpected code1[Reason]            = "missed-unexpected" // the stated reason
	NotMissed        code1[int]               = "missed-not"        // period

	// What the lock did.
	grantedWhileLeased   code5[string, history.Moment, string, history.Moment, history.Moment] = "granted-while-leased"  // section, when, other, granted when, until
	grantedBeforeRelease code5[string, history.Moment, string, history.Moment, history.Moment] = "granted-till-release"  // section, when, other, granted when, release called when
	renewedAsIfAlone     code5[string, history.Moment, time.Duration, string, history.Moment]  = "prolonged-as-if-alone" // section, granted when, renewed when, other, granted when
	orderUnseen          code3[string, time.Duration, history.Moment]                          = "order-unseen"          // section, granted at the earliest, at the latest
	leaseEnded           code2[string, history.Moment]                                         = "lease-ended"           // section, when
	sectionEnded         code2[string, history.Moment]                                         = "section-ended"         // section, when
	writeApplied         code3[string, string, history.Moment]                                 = "write-applied"         // section, object, when
	enteredWhileInside   code5[string, history.Moment, string, history.Moment, history.Moment] = "entered-while-inside"  // section, when, other, from, until
	tokenNotGreater      code5[string, string, Token, Token, time.Duration]                    = "token-not-greater"     // younger, older, its token, older token, when
	removedForeignKey    code5[time.Duration, string, string, string, string]                  = "removed-foreign-key"   // when, acquisition, key, node, owner
	overwroteForeignKey  code5[time.Duration, string, string, string, string]                  = "overwrote-foreign-key" // when, acquisition, key, node, owner
	touchedForeignKey    code5[time.Duration, string, string, string, string]                  = "touched-foreign-key"   // when, acquisition, key, node, owner
	grantedByNobody      code1[string]                                                         = "granted-by-nobody"     // sections
	keptUnderOtherKey    code2[string, string]                                                 = "kept-under-other-key"  // section, key
	setForeignKeyAgain   code4[string, string, string, string]                                 = "set-key-again"         // section, key, node, owner
	endedWhenGranted     code1[string]                                                         = "ended-when-granted"    // section
	renewedTooLate       code3[time.Duration, string, history.Moment]                          = "prolonged-too-late"    // when, section, until
	notifiedTooLate      code3[string, history.Moment, time.Duration]                          = "told-too-late"         // section, lease ended when, notified when
	neverNotified        code2[string, history.Moment]                                         = "never-told"            // section, lease ended when
	bySentLater          code0                                                                 = "by-sent-later"
	releasedLost         code5[string, time.Duration, Reason, string, history.Moment]          = "released-lost"          // section, success when, what had ended its last key, node, when
	releasedNothing      code3[string, time.Duration, string]                                  = "released-nothing"       // section, success when, nodes
	releasedDespiteError code4[string, time.Duration, string, time.Duration]                   = "released-despite-error" // section, error when, node, removed when
	ranOnWhilePaused     code1[string]                                                         = "ran-on-while-paused"    // client
	onlyTurnsTaken       code0                                                                 = "only-turns-taken"
	noProgress           code2[time.Duration, string]                                          = "no-progress"            // until, client
	noProgressSince      code3[history.Moment, time.Duration, string]                          = "no-progress-since"      // last fault, until, client
	neverEnded           code2[time.Duration, string]                                          = "never-ended"            // when, client
	lockDidNotAnswer     code1[trace.Step]                                                     = "lock-did-not-answer"    // step
	releaseOpen          code2[string, time.Duration]                                          = "release-open"           // client, called when
	serverSilent         code2[string, string]                                                 = "unheard-of"             // client, server
	quorumInReach        code4[string, int, int, int]                                          = "quorum-in-reach"        // client, how many keys, of how many, how many are a quorum
	membersInReach       code4[string, int, int, int]                                          = "members-in-reach"       // client, how many members, of how many, how many are a majority
	storageTurnedAway    code4[string, string, trace.Step, time.Duration]                      = "storage-turned-away"    // client, how, step, when
	clockHadNotCounted   code2[string, history.Moment]                                         = "clock-had-not-counted"  // client, granted when
	waitsForOther        code4[string, string, string, string]                                 = "waits-for-other"        // client, its lock, the lock that it waits for, that lock's holder
	leaseEndedBeforeDone code3[string, history.Moment, history.Moment]                         = "lease-over-before-done" // client, granted when, lease ended when

	// What ended a key that its client had not released.
	keyExpired       code0         = "key-expired"
	keyTakenOver     code1[string] = "key-taken-over" // client
	keyRemoved       code0         = "key-removed"
	keyRemovedBy     code1[string] = "key-removed-by" // client
	keyOverwritten   code0         = "key-overwritten"
	keyOverwrittenBy code1[string] = "key-overwritten-by" // client
	keyDropped       code0         = "key-dropped"
	keyReplaced      code0         = "key-replaced"
	keyLost          code0         = "key-lost"

	// Misconduct: what the lock did that no caller can accept.
	noMisconduct          code0                                                                      = "no-misconduct"
	endedRun              code1[string]                                                              = "ended-run"               // why
	complaint             code2[string, string]                                                      = "complaint"               // client, what it says
	waitsForIdleGrant     code4[string, trace.Step, time.Duration, time.Duration]                    = "waits-for-idle-grant"    // client, step, called when, until
	stillWaits            code4[string, trace.Step, time.Duration, time.Duration]                    = "still-waits"             // client, step, called when, until
	sentNothing           code4[string, trace.Step, time.Duration, time.Duration]                    = "sent-nothing"            // client, step, called when, until
	askedWithoutPause     code5[trace.Step, string, int, time.Duration, time.Duration]               = "asked-without-pause"     // step, client, how many commands, within which time, longest pause
	methodMistyped        code1[string]                                                              = "method-mistyped"         // the method, with both types
	leaseCannotNotify     code1[string]                                                              = "lease-cannot-tell"       // client
	lostByItself          code4[string, time.Duration, string, time.Duration]                        = "lost-by-itself"          // section, notified when, node, removed when
	grantWithoutToken     code1[string]                                                              = "grant-without-token"     // client
	notNotifiedOfLoss     code3[string, history.Moment, time.Duration]                               = "not-told-of-loss"        // client, lost when, until
	trafficGrew           code5[int, string, int, int, int]                                          = "traffic-grew"            // calls, client, their commands, later calls, their commands
	stillSent             code4[string, time.Duration, time.Duration, string]                        = "still-sent"              // client, released when, sent when, what
	releasedWithoutAsking code4[string, time.Duration, string, time.Duration]                        = "released-without-asking" // client, released when, node, key existed until
	releasedByWriting     code4[string, time.Duration, string, time.Duration]                        = "released-by-writing"     // client, released when, node, key existed until
	neverRemoved          code4[string, time.Duration, string, time.Duration]                        = "never-removed"           // client, called acquire when, node, key existed until
	ownKeyInTheWay        code6[string, string, time.Duration, time.Duration, Reason, time.Duration] = "own-key-in-the-way"      // client, node, set when, answered when, how the call ended, expired when
	wasStillCalled        code0                                                                      = "was-still-called"
	andFailed             code1[time.Duration]                                                       = "and-failed"     // when
	releaseFailed         code3[string, time.Duration, string]                                       = "release-failed" // client, called when, error

	// What happened to the data.
	wroteAfterGrant        code5[string, string, time.Duration, string, history.Moment]             = "wrote-after-grant"   // section, object, when, other, granted when
	replacedUnseen         code5[string, string, time.Duration, string, time.Duration]              = "replaced-unseen"     // section, object, when, other, made when
	computedFromStale      code4[string, time.Duration, string, string]                             = "computed-from-stale" // section, when, version read, version replaced
	updateLost             code2[string, time.Duration]                                             = "update-lost"         // section, made when
	writeMissing           code7[string, time.Duration, string, time.Duration, string, string, int] = "write-missing"       // section, acknowledged when, version, seen when, object, how seen, number
	otherWrite             code0                                                                    = "of-somebody-else"
	notOneAfterOther       code2[string, string]                                                    = "not-one-after-other"       // section, section
	notAlone               code1[string]                                                            = "not-alone"                 // section
	endedBeforeBegin       code4[string, history.Moment, string, history.Moment]                    = "ended-before-began"        // section, ended when, section, began when
	wroteWhatOtherRead     code3[string, string, string]                                            = "wrote-what-other-read"     // section, version, section
	wroteWhatOtherReplaced code3[string, string, string]                                            = "wrote-what-other-replaced" // section, version, section
	readWhatOtherReplaced  code3[string, string, string]                                            = "read-what-other-replaced"  // section, version, section
	bothReplaced           code3[string, string, string]                                            = "both-replaced"             // section, version, section
	ownWriteGone           code2[string, string]                                                    = "own-write-gone"            // section, version
	tornByRefusals         code2[int, int]                                                          = "torn-by-refusals"          // applied, refused
	tornByDeparture        code1[string]                                                            = "torn-by-departure"         // how it ended
	tornInPart             code2[int, int]                                                          = "torn-in-part"              // begun, applied
	manyNotOneByOne        code2[int, string]                                                       = "many-not-one-by-one"       // how many, section
	ranTwice               code5[string, int, time.Duration, string, time.Duration]                 = "ran-twice"                 // section, period, when, section, when
	notOverlapping         code0                                                                    = "not-at-once"
	nobodyRan              code2[int, time.Duration]                                                = "nobody-ran"    // period, begun when
	nobodyRanOf            code3[int, string, time.Duration]                                        = "nobody-ran-of" // period, lock, begun when
	hadBegun               code2[string, string]                                                    = "had-begun"     // section, how it ended
	twiceIsHarmless        code0                                                                    = "twice-is-harmless"
	ranInVain              code3[int, int, time.Duration]                                           = "ran-in-vain" // period, how often, time
	allRun                 code0                                                                    = "all-run"

	// Measures.
	nobodyAsked        code0                                             = "nobody-asked"
	nobodyDied         code0                                             = "nobody-died"
	nobodyGrantedAfter code1[string]                                     = "nobody-granted-after" // client
	noNodes            code0                                             = "no-nodes"
	noCluster          code0                                             = "no-cluster"
	nothingRenewed     code0                                             = "nothing-prolonged"
	mostAfterRelease   code1[int64]                                      = "most-after-release" // how many
	noTraffic          code0                                             = "no-traffic"
	messagesSent       code2[int64, int64]                               = "messages"             // how many, in how many round trips
	messagesPerRelease code2[int64, int64]                               = "messages-per-release" // how many, in how many round trips
	bytesSent          code1[int64]                                      = "bytes"                // how many
	bytesPerRelease    code1[int64]                                      = "bytes-per-release"    // how many
	noSectionEnded     code0                                             = "nothing-over"
	ofTheTTL           code1[int64]                                      = "of-the-ttl" // per cent
	leastLeft          code1[time.Duration]                              = "least-left" // length of time
	nothingReleased    code0                                             = "nothing-released"
	foundNothing       code1[int64]                                      = "found-nothing" // how many
	nothingLost        code0                                             = "nothing-lost"
	neverNoticed       code1[int]                                        = "never-noticed"        // how many
	othersNeverNoticed code1[int]                                        = "others-never-noticed" // how many
	nobodyCompeted     code0                                             = "nobody-competed"
	jainsIndex         code1[int64]                                      = "jains-index"    // per cent
	mostOvertaken      code1[int]                                        = "most-overtaken" // how many
	noMajority         code0                                             = "no-majority"
	nothingAsked       code0                                             = "nothing-asked"
	nothingDecided     code0                                             = "nothing-decided"
	plainValue         code1[any]                                        = "just-that"            // the value
	medianAndLongest   code2[time.Duration, time.Duration]               = "median-and-longest"   // two lengths of time
	longestOfDead      code2[time.Duration, int]                         = "longest-of-dead"      // length of time, how many
	neverGranted       code1[int]                                        = "never-granted"        // how many
	othersNeverGranted code1[int]                                        = "others-never-granted" // how many
	ofWhichFailed      code2[int64, int64]                               = "of-which-failed"      // how many, of these
	ofFailedAttempts   code2[int64, int64]                               = "of-failed-attempts"   // how many, of how many
	ofRequests         code6[int64, int64, int64, int64, int64, int64]   = "of-requests"          // refused, of how many; reads refused, of how many; writes refused, of how many
	ofSections         code4[int64, int64, time.Duration, time.Duration] = "of-sections"          // refused, of how many; time of the refused, time of all
	perSectionGranted  code1[int64]                                      = "per-section-granted"  // how many
	perMinute          code1[int64]                                      = "per-minute"           // how many
)
