package scenarios

import (
	"cmp"
	"path"
	"reflect"
	"strings"

	"gopkg.in/yaml.v3"
)

// Parse reads a scenario file from data. It opens no file: file is only the name that errors show,
// and from which the scenario gets its own name. The error is an [Errors], with one line for each
// problem, in the order of the file.
func Parse(file string, data []byte) (*Scenario, error) {
	t := parseTree(file, data)
	var s *Scenario
	if len(t.errs) == 0 {
		s = t.interpret()
	}
	if len(t.errs) > 0 {
		return nil, t.errs.summarize()
	}
	s.Text = string(data)
	return s, nil
}

// interpret makes a scenario of the tree. If the tree has recorded errors, the scenario is not
// valid.
func (t *tree) interpret() *Scenario {
	base, variants := removeKey(t.root, "variants")
	if variants == nil {
		own := t.decodeDraft(base)
		own.check()
		s := t.newScenario(own)
		s.Variants = []*Variant{s.variant("", own, base)}
		return s
	}
	s := t.newScenario(t.decodeDraft(base))
	switch {
	case variants.Kind != yaml.MappingNode:
		t.report(variants, "", "expected a mapping of names, but it is %s", "", describeNode(variants))
		return s
	case len(variants.Content) == 0:
		t.report(variants, "", "there are no variants here", "leave the field out")
	case len(variants.Content)/2 > maxVariants:
		t.report(variants, "", "there are %d variants, and a file has at most %d", "give the others their own file", len(variants.Content)/2, maxVariants)
		return s
	}
	// Each variant reports the problems of the rest of the file again. If too many are
	// recorded, the remaining variants are not read.
	for i := 0; i+1 < len(variants.Content) && t.found < maxRecorded; i += 2 {
		key, override := variants.Content[i], variants.Content[i+1]
		if bad := nameProblem(key.Value); bad != "" {
			t.report(key, "", "%s", nameHint, bad)
		}
		if override.Kind != yaml.MappingNode {
			t.report(override, "", "expected a mapping of fields, but it is %s", "", describeNode(override))
			continue
		}
		root := mergeVariant(base, override, t.paths)
		own := t.decodeDraft(root)
		own.check()
		s.Variants = append(s.Variants, s.variant(key.Value, own, root))
	}
	return s
}

// A draft is one version of a scenario while it is read and checked.
type draft struct {
	spec spec
	*decoder
	participants participants
	// foundBefore is the number of problems that the tree had when the draft was begun.
	foundBefore int
}

// cleanDraft returns an empty draft with which a changed version of the same file can be
// checked. It knows the places in the file, but has no problems recorded.
func (d *decoder) cleanDraft() *draft {
	t := *d.tree
	t.errs, t.found, t.suggestions = nil, 0, map[misspelling]suggestion{}
	return &draft{decoder: &decoder{tree: &t, nodes: d.nodes}}
}

// decodeDraft reads one complete version of the scenario.
func (t *tree) decodeDraft(root *yaml.Node) *draft {
	d := &draft{decoder: &decoder{tree: t, nodes: map[string]*yaml.Node{"": root}}, foundBefore: t.found}
	d.decodeStructs(root, "", reflect.ValueOf(&d.spec).Elem())
	d.participants = d.spec.collectParticipants()
	d.addHints()
	return d
}

// newScenario returns the scenario of a file, without its variants.
func (t *tree) newScenario(d *draft) *Scenario {
	d.requireField("title")
	name := path.Base(strings.ReplaceAll(t.file, `\`, "/"))
	return &Scenario{
		Name:      strings.TrimSuffix(name, path.Ext(name)),
		File:      t.file,
		Title:     d.spec.Title,
		Group:     string(d.spec.Group),
		Source:    d.spec.Source,
		Narrative: d.spec.narrative(),
	}
}

// variant returns the variant that was read into a draft from root.
func (s *Scenario) variant(name string, d *draft, root *yaml.Node) *Variant {
	return &Variant{
		Scenario:  s.Name,
		Name:      name,
		Title:     cmp.Or(d.spec.Title, s.Title),
		Narrative: d.spec.narrative(), // complete, because the variant was merged into the file
		Lock:      string(d.spec.Lock.Kind),
		Witnesses: d.spec.Witnesses,
		Measures:  toStrings(d.spec.Measures...),
		spec:      d.spec,
		root:      root,
		places:    d.decoder,
	}
}

// narrative returns the texts of the scenario.
func (s *spec) narrative() Narrative {
	return Narrative{
		Assumption: string(s.Assumption),
		Story:      strings.TrimSpace(s.Story),
		Question:   strings.TrimSpace(s.Question),
		Why:        strings.TrimSpace(s.Why),
		Prevention: strings.TrimSpace(s.Prevention),
		Lesson:     strings.TrimSpace(s.Lesson),
		Kleppmann:  strings.TrimSpace(s.Says.Kleppmann),
		Sanfilippo: strings.TrimSpace(s.Says.Sanfilippo),
		Redis:      strings.TrimSpace(s.Says.Redis),
	}
}
