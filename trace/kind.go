package trace

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Kind is the kind of an event. [Kinds] says what each kind means and which fields its
// events have.
type Kind string

// The kinds of events.
const (
	KindStrike  Kind = "strike"
	KindLift    Kind = "lift"
	KindPause   Kind = "pause"
	KindResume  Kind = "resume"
	KindRanOn   Kind = "ran-on"
	KindCrash   Kind = "crash"
	KindRestart Kind = "restart"
	KindClock   Kind = "clock"
	KindSync    Kind = "sync"
	KindFail    Kind = "fail"
	KindRecover Kind = "recover"
	KindPromote Kind = "promote"

	KindConnect Kind = "connect"
	KindRefuse  Kind = "refuse"
	KindSend    Kind = "send"
	KindDeliver Kind = "deliver"
	KindHold    Kind = "hold"
	KindLose    Kind = "lose"
	KindClose   Kind = "close"
	KindReset   Kind = "reset"
	KindTimeout Kind = "timeout"

	KindSet     Kind = "set"
	KindTouch   Kind = "touch"
	KindDelete  Kind = "delete"
	KindExpire  Kind = "expire"
	KindForget  Kind = "forget"
	KindDrop    Kind = "drop"
	KindRestore Kind = "restore"

	KindOpen          Kind = "session-open"
	KindAlive         Kind = "session-alive"
	KindCloseSession  Kind = "session-close"
	KindExpireSession Kind = "session-expire"
	KindNotify        Kind = "notify"
	KindLead          Kind = "lead"
	KindCompact       Kind = "compact"

	KindBegin  Kind = "begin"
	KindEnd    Kind = "end"
	KindAgain  Kind = "again"
	KindCancel Kind = "cancel"
	KindLost   Kind = "lost"
	KindDone   Kind = "done"

	KindStrip       Kind = "strip"
	KindServe       Kind = "serve"
	KindCheck       Kind = "check"
	KindStall       Kind = "stall"
	KindRevert      Kind = "revert"
	KindForgetToken Kind = "forget-token"
	KindObject      Kind = "object"

	KindPeriod  Kind = "period"
	KindHorizon Kind = "horizon"
)

// A Form describes the events of one kind: what they mean and which fields they have.
type Form struct {
	Kind Kind
	// Subject is what such events are about, such as keys.
	Subject Subject
	// Meaning says what has happened.
	Meaning string
	// Required are the fields that every such event has, and Optional those that some have, by
	// their names in JSON. All events have seq, at and kind, and can have earliest, so these
	// fields are not listed.
	Required, Optional []string
	// ChangesState says that the event changes something that readers of a trace keep track
	// of: which keys exist and who owns them, which processes run, what their clocks show,
	// which faults act.
	ChangesState bool
	// Texts are the possible values of the event's text. If the list is empty, the text is
	// free.
	Texts []string
}

// A Subject is what several kinds of events are about, as the heading of their group.
type Subject string

const (
	subjectProcesses Subject = "faults and processes"
	subjectNetwork   Subject = "the network"
	subjectKeys      Subject = "keys, as the clocks of their nodes see them"
	subjectSessions  Subject = "clusters, and the sessions that clients have with them"
	subjectSteps     Subject = "a client's steps"
	subjectServices  Subject = "services and the storage"
	subjectRun       Subject = "the run"
)

// forms has the form of each kind. The validation of traces, the documentation and the
// readers of traces use it.
var forms = []Form{
	{KindStrike, subjectProcesses, "a fault begins to act", splitFields("fault"), splitFields("text instant lifts"), true, nil},
	{KindLift, subjectProcesses, "a fault stops acting", splitFields("fault"), splitFields("text"), true, nil},
	{KindPause, subjectProcesses, "a process is paused; text is how", splitFields("process text"), nil, true, toStrings(Stop, Suspend)},
	{KindResume, subjectProcesses, "a paused process continues", splitFields("process"), nil, true, nil},
	{KindRanOn, subjectProcesses, "a paused process started something although it was paused", splitFields("process"), splitFields("text"), false, nil},
	{KindCrash, subjectProcesses, "a process ends; text is how", splitFields("process text"), nil, true, toStrings(Kill, PowerLoss, Shutdown, FailOver)},
	{KindRestart, subjectProcesses, "a process that had ended runs again", splitFields("process"), nil, true, nil},
	{KindClock, subjectProcesses, "the readings of a process's clocks right after a change, and once at the start", splitFields("process clocks"), nil, true, nil},
	{KindSync, subjectProcesses, "a node's append-only file or snapshot reached the disk", splitFields("process"), splitFields("text"), false, nil},
	{KindFail, subjectProcesses, "from now on, a node answers every command with the error in text", splitFields("process text"), nil, true, nil},
	{KindRecover, subjectProcesses, "a node no longer answers with an error, and executes commands again", splitFields("process"), nil, true, nil},
	{KindPromote, subjectProcesses, "process, a replica, takes over the address of its master, peer", splitFields("process peer"), nil, true, nil},

	{KindConnect, subjectNetwork, "a connection is made", splitFields("process peer conn"), nil, false, nil},
	{KindRefuse, subjectNetwork, "a dial failed", splitFields("process peer"), splitFields("text"), false, nil},
	{KindSend, subjectNetwork, "process sends a message to peer", splitFields("process peer conn msg"), messageFields, false, nil},
	{KindDeliver, subjectNetwork, "process receives a message from peer", splitFields("process peer conn msg"), messageFields, false, nil},
	{KindHold, subjectNetwork, "a message that process sent is held back", splitFields("process peer conn msg"), messageFields, true, nil},
	{KindLose, subjectNetwork, "a message that process sent will never arrive", splitFields("process peer conn msg"), messageFields, false, nil},
	{KindClose, subjectNetwork, "process closed its end of a connection", splitFields("process peer conn"), nil, false, nil},
	{KindReset, subjectNetwork, "process saw a connection reset", splitFields("process peer conn"), nil, false, nil},
	{KindTimeout, subjectNetwork, "process gave up reading at its deadline", splitFields("process peer conn"), nil, false, nil},

	{KindSet, subjectKeys, "a command set a key on a node; prior is the owner of the overwritten key; ends is the end of the lease, if waiters judge it by their own clocks", splitFields("process"), splitFields("key value ttl expires ends by owner prior"), true, nil},
	{KindTouch, subjectKeys, "a command changed the time at which a key expires, and nothing else; by sent the command, and owner had set the key", splitFields("process"), splitFields("key value ttl expires ends by owner"), true, nil},
	{KindDelete, subjectKeys, "a command removed a key; by sent the command, and is operator if an operator did it by hand", splitFields("process"), splitFields("key value by owner"), true, nil},
	{KindExpire, subjectKeys, "a key expired by the node's clock; or, if there is a by, that client has taken the key over because it expired by the client's clock", splitFields("process"), splitFields("key value by owner"), true, nil},
	{KindForget, subjectKeys, "a key was lost in a crash", splitFields("process"), splitFields("key value owner"), true, nil},
	{KindDrop, subjectKeys, "a key was removed because the connection that held it was lost, or because the node ended that connection", splitFields("process"), splitFields("key value owner"), true, nil},
	{KindRestore, subjectKeys, "a key came back: from disk with other contents, from a master, or because the clock was set back and the key is no longer expired; if there is a by, that acquisition shared the key with owner and has released its share, so the key is owner's alone", splitFields("process"), splitFields("key value ttl expires owner by"), true, nil},

	{KindOpen, subjectSessions, "a cluster has begun a session with peer, a client; ttl is how long it lives without a sign of life", splitFields("process peer session"), splitFields("ttl"), false, nil},
	{KindAlive, subjectSessions, "a client has received proof that its session is alive: the session lives for ttl from the moment at which the client sent the answered request; in true time it ends at expires", splitFields("process session ttl"), splitFields("peer expires"), true, nil},
	{KindCloseSession, subjectSessions, "peer has ended its session; or, if by is operator, an operator has ended it by hand", splitFields("process peer session"), splitFields("by"), false, nil},
	{KindExpireSession, subjectSessions, "a cluster has ended the session of peer because it expired; text, if any, names a former leader that alone judged it expired", splitFields("process peer session"), splitFields("text"), false, nil},
	{KindNotify, subjectSessions, "a client has received the notification that something it watches has changed; key is what changed", splitFields("process"), splitFields("peer key"), false, nil},
	{KindLead, subjectSessions, "a member of a cluster has become its leader", splitFields("process"), splitFields("text"), false, nil},
	{KindCompact, subjectSessions, "a cluster has compacted its history, and no longer knows what was before some change; text is that change, and process the first of the members", splitFields("process text"), nil, false, nil},

	{KindBegin, subjectSteps, "a client begins a step", splitFields("process step"), splitFields("section lock within context_over object token value leaves period"), false, nil},
	{KindEnd, subjectSteps, "the step has ended; if an extend has no begin, the lock renewed the lease by itself", splitFields("process step"),
		splitFields("section ok refused text lock within token minted rank ungranted ends notifies mistyped session object version replaced period"), false, nil},
	{KindAgain, subjectSteps, "a client sends a request to the storage again; text is the reason", splitFields("process step"), splitFields("section object token text"), false, nil},
	{KindCancel, subjectSteps, "a client cancels the context of its current call of the lock", splitFields("process step"), splitFields("section"), false, nil},
	{KindLost, subjectSteps, "the lock has notified the client that its lease is lost", splitFields("process"), splitFields("section"), false, nil},
	{KindDone, subjectSteps, "a client's program has ended", splitFields("process"), splitFields("ok text"), false, nil},

	{KindStrip, subjectServices, "a service passes a request on without its token", splitFields("process"), splitFields("by section step token"), false, nil},
	{KindServe, subjectServices, "the storage has served a request, or refused it", splitFields("process peer step"),
		splitFields("by section ok object version replaced value token text period"), false, nil},
	{KindCheck, subjectServices, "the storage has checked a token, in a step of its own", splitFields("process peer step"), splitFields("by section ok object token text"), false, nil},
	{KindStall, subjectServices, "the storage's thread that serves a request is stalled", splitFields("process peer step fault"), splitFields("by section object token"), false, nil},
	{KindRevert, subjectServices, "an object is back at an older version; replaced is the version that was lost", splitFields("process object"), splitFields("version replaced value"), false, nil},
	{KindForgetToken, subjectServices, "the storage has forgotten the highest token that it had seen; object is the object for which it kept the token, if it keeps one for each object; text is the token that it knows now", splitFields("process"), splitFields("object token text"), false, nil},
	{KindObject, subjectServices, "the state of an object at the end of the run", splitFields("process object"), splitFields("version value"), false, nil},

	{KindPeriod, subjectRun, "a period of the schedule begins, in true time", splitFields("period"), nil, false, nil},
	{KindHorizon, subjectRun, "the run was cut off here", nil, splitFields("text"), false, nil},
}

// messageFields are the optional fields of an event about a message.
var messageFields = splitFields("reply handshake keep_alive bytes section step text")

// splitFields splits a list of names at the blanks.
func splitFields(names string) []string { return strings.Fields(names) }

func toStrings[W ~string](all ...W) []string {
	texts := make([]string, len(all))
	for i, w := range all {
		texts[i] = string(w)
	}
	return texts
}

// Kinds returns the forms of all kinds of events, grouped by subject.
func Kinds() []Form { return slices.Clone(forms) }

// formsByKind maps each kind to its form.
var formsByKind = func() map[Kind]*Form {
	all := map[Kind]*Form{}
	for i := range forms {
		all[forms[i].Kind] = &forms[i]
	}
	return all
}()

// eventFields are the JSON names of an event's fields, in their order.
var eventFields = func() []string {
	of := reflect.TypeFor[Event]()
	names := make([]string, of.NumField())
	for i := range names {
		names[i], _, _ = strings.Cut(of.Field(i).Tag.Get("json"), ",")
	}
	return names
}()

// check returns an error if an event lacks a field that its kind requires, or if it has a field or
// a text that its kind cannot have.
func (f *Form) check(ev *Event) error {
	v := reflect.ValueOf(ev).Elem()
	for i, name := range eventFields {
		switch {
		case name == "seq", name == "at", name == "kind", name == "earliest":
		case slices.Contains(f.Required, name):
			if v.Field(i).IsZero() {
				return fmt.Errorf("an event of kind %q must have the field %s, and this one lacks it", f.Kind, name)
			}
		case v.Field(i).IsZero(), slices.Contains(f.Optional, name):
		default:
			return fmt.Errorf("an event of kind %q has no field %s, but this one does: a later version may have written it", f.Kind, name)
		}
	}
	if len(f.Texts) > 0 && !slices.Contains(f.Texts, ev.Text) {
		return fmt.Errorf("%q is not a text of an event of kind %q: a later version may have written it", ev.Text, f.Kind)
	}
	return nil
}
