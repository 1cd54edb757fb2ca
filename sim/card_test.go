package sim_test

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/faultcard"
	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// placeholders are the names that a phrase may contain in braces.
var placeholders = []string{"{target}", "{others}", "{message}", "{step}", "{size}", "{lasting}", "{for-the-next}"}

// flaws lists what is missing or wrong on the card of a kind of fault.
func flaws(k sim.FaultKind) (all []string) {
	// flaw adds a flaw if it is present.
	flaw := func(present bool, what string) {
		if present {
			all = append(all, what)
		}
	}
	flaw(k.Title == "", "the card has no title")
	flaw(!slices.Contains(trace.Effects(), k.Effect), "its effect does not exist")
	flaw(len(k.Manners) == 0, "the card has no manner")
	if len(k.Manners) > 0 {
		flaw(k.Manners[0].Value != "", "its first manner is not the default manner")
	}
	flaw((len(k.Sites) > 0) == (k.NotTried != ""), "the card must have sites or say why no search tries it, and not both")
	has := map[string]bool{} // the roles of the kind's parameters
	v := reflect.TypeOf(k.New()).Elem()
	for i := range v.NumField() {
		f := v.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		role := f.Tag.Get("fault")
		if name == k.Name {
			role = "target"
		}
		flaw(!slices.Contains([]string{"target", "others", "manner", "size", "step"}, role), "its parameter "+name+" has no known role")
		flaw(has[role], "two of its parameters have the role "+role)
		flaw(f.Tag.Get("jsonschema") == "", "its parameter "+name+" is not explained")
		has[role] = true
	}
	flaw(!has["target"], "the card has no target")
	for _, m := range k.Manners {
		flaw(m.Value == faultcard.Negative && !has["size"] || m.Value != "" && m.Value != faultcard.Negative && !has["manner"], "no parameter has the manner "+m.Value)
		flaw(m.Value != "" && m.Slug == "", "its manner "+m.Value+" has no slug")
		for _, phrase := range []string{m.Subject, m.Predicate, m.Noun} {
			flaw(phrase == "", "a phrase of its manner "+m.Value+" is missing")
			for _, name := range regexp.MustCompile(`\{[^}]*\}`).FindAllString(phrase, -1) {
				flaw(!slices.Contains(placeholders, name), "a phrase has the unknown placeholder "+name)
			}
		}
	}
	for _, s := range k.Sites {
		flaw(s.At == "", "a site does not say when the fault strikes")
		flaw((s.At == faultcard.OnMessages) != (len(s.Roles) == 0), "a site does not say which process the fault strikes")
		flaw(has["others"] != (s.Others != faultcard.NoOthers), "a site does not say which process is at the other end")
		flaw(len(s.Lengths) > 0 && k.Instant && !has["size"], "a site has lengths, but faults of the kind have no length and no size")
		for _, value := range s.Manners {
			known := slices.ContainsFunc(k.Manners, func(m sim.Manner) bool { return m.Value == value })
			flaw(!known, "a site has the manner "+value+", which the kind does not have")
		}
	}
	return all
}

// Every kind of fault is registered once, and its card is complete.
func TestCards(t *testing.T) {
	var names []string
	for _, k := range sim.FaultKinds() {
		names = append(names, k.Name)
		for _, flaw := range flaws(k) {
			t.Errorf("the card of %s: %s", k.Name, flaw)
		}
		if err := (sim.Fault{Action: k.New()}).Check(sim.Topology{}); err == nil {
			t.Errorf("a fault %s without parameters is accepted, want an error", k.Name)
		}
	}
	Equal(t, "the names of all kinds", strings.Join(names, " "), "cancel crash delay demote disk-stall drift fail hold jump partition pause promote reset revoke stall")
	defer func() {
		if recover() == nil {
			t.Error("a second kind of fault with the name pause was registered, want a panic")
		}
	}()
	sim.RegisterFault(sim.FaultKind{Name: "pause", New: func() sim.Action { return &sim.Pause{} }})
}

// The function flaws finds each flaw of a card.
func TestFlawsOfCards(t *testing.T) {
	type odd struct {
		sim.Pause `yaml:"-"`
		Node      string `yaml:"odd" jsonschema:"description=The node."`
		Mood      string `yaml:"mood"`
	}
	whole := sim.FaultKind{
		Name: "odd", Title: "odd", Effect: trace.StopsProcess, New: func() sim.Action { return new(odd) },
		Manners: []sim.Manner{{Phrases: trace.Phrases{Subject: "{target}", Predicate: "is odd", Noun: "{oddity}"}}, {Value: "very"}},
		Sites:   []sim.Site{{At: faultcard.AtPoints, Others: faultcard.AnyNodeSet}},
	}
	found := strings.Join(flaws(whole), "; ")
	for _, want := range []string{
		"parameter mood has no known role", "parameter mood is not explained", "unknown placeholder {oddity}", "no parameter has the manner very",
		"manner very has no slug", "phrase of its manner very is missing", "which process the fault strikes", "which process is at the other end",
	} {
		if !strings.Contains(found, want) {
			t.Errorf("the flaws of the card odd are %s; want among them %q", found, want)
		}
	}
	bare := strings.Join(flaws(sim.FaultKind{Name: "bare", New: func() sim.Action { return new(odd) }}), "; ")
	for _, want := range []string{"no title", "its effect", "no manner", "why no search tries it", "no target"} {
		if !strings.Contains(bare, want) {
			t.Errorf("the flaws of the card bare are %s; want among them %q", bare, want)
		}
	}
}
