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
	flaw := func(is bool, what string) {
		if is {
			all = append(all, what)
		}
	}
	flaw(k.Title == "", "it has no title")
	flaw(!slices.Contains(trace.Effects(), k.Effect), "its effect is none of those there are")
	flaw(len(k.Manners) == 0, "it has no manner")
	if len(k.Manners) > 0 {
		flaw(k.Manners[0].Value != "", "its first manner is not the common one")
	}
	flaw((len(k.Sites) > 0) == (k.NotTried != ""), "either it has sites or it says why no search tries it")
	says := map[string]bool{}
	v := reflect.TypeOf(k.New()).Elem()
	for i := range v.NumField() {
		f := v.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		role := f.Tag.Get("fault")
		if name == k.Name {
			role = "target"
		}
		flaw(!slices.Contains([]string{"target", "others", "manner", "size", "step"}, role), "nobody knows what its parameter "+name+" says")
		flaw(says[role], "two of its parameters say the "+role)
		flaw(f.Tag.Get("jsonschema") == "", "its parameter "+name+" is not explained")
		says[role] = true
	}
	flaw(!says["target"], "it has no target")
	for _, m := range k.Manners {
		flaw(m.Value == faultcard.Negative && !says["size"] || m.Value != "" && m.Value != faultcard.Negative && !says["manner"], "no parameter has the manner "+m.Value)
		flaw(m.Value != "" && m.Slug == "", "its manner "+m.Value+" has no word")
		for _, phrase := range []string{m.Subject, m.Predicate, m.Noun} {
			flaw(phrase == "", "a phrase is missing of its manner "+m.Value)
			for _, name := range regexp.MustCompile(`\{[^}]*\}`).FindAllString(phrase, -1) {
				flaw(!slices.Contains(placeholders, name), "nothing can be put in for "+name)
			}
		}
	}
	for _, s := range k.Sites {
		flaw(s.At == "", "one of its sites does not say when it strikes")
		flaw((s.At == faultcard.OnMessages) != (len(s.Roles) == 0), "one of its sites does not say whom it strikes")
		flaw(says["others"] != (s.Others != faultcard.NoOthers), "one of its sites does not say who is at the other end")
		flaw(len(s.Lengths) > 0 && k.Instant && !says["size"], "one of its sites has lengths, and it has none")
		for _, value := range s.Manners {
			known := slices.ContainsFunc(k.Manners, func(m sim.Manner) bool { return m.Value == value })
			flaw(!known, "one of its sites has the manner "+value+", and it has none such")
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
			t.Errorf("%s without parameters is taken", k.Name)
		}
	}
	Equal(t, "the kinds", strings.Join(names, " "), "cancel crash delay demote disk-stall drift fail hold jump partition pause promote reset revoke stall")
	defer func() {
		if recover() == nil {
			t.Error("a second kind called pause was registered")
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
		"parameter mood says", "parameter mood is not explained", "put in for {oddity}", "no parameter has the manner very",
		"manner very has no word", "phrase is missing of its manner very", "does not say whom", "who is at the other end",
	} {
		if !strings.Contains(found, want) {
			t.Errorf("it is not said that %q: %s", want, found)
		}
	}
	bare := strings.Join(flaws(sim.FaultKind{Name: "bare", New: func() sim.Action { return new(odd) }}), "; ")
	for _, want := range []string{"no title", "its effect", "no manner", "why no search tries it", "no target"} {
		if !strings.Contains(bare, want) {
			t.Errorf("it is not said that %q: %s", want, bare)
		}
	}
}
