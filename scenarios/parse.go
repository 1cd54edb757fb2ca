package scenarios

import (
	"cmp"
	"path"
	"reflect"
	"strings"

	"gopkg.in/yaml.v3"
)

// Parse reads a scenario file. file is used in errors and gives the scenario its name; only
// data is read. The error is an [Errors]: one line for each problem, in the order of the
// file.
func Parse(file string, data []byte) (*Scenario, error) {
	t := read(file, data)
	var s *Scenario
	if len(t.errs) == 0 {
		s = t.scenario()
	}
	if len(t.errs) > 0 {
		return nil, t.errs.tidied()
	}
	s.Text = string(data)
	return s, nil
}

// interpret makes a scenario of the tree. The scenario is valid only if t has no errors
// afterwards.
func (t *tree) scenario() *Scenario {
	base, variants := without(t.root, "variants")
	if variants == nil {
		own := t.draft(base)
		own.check()
		s := t.story(own)
		s.Variants = []*Variant{s.variant("", own, base)}
		return s
	}
	s := t.story(t.draft(base))
	switch {
	case variants.Kind != yaml.MappingNode:
		t.report(variants, "", "expected a mapping of names, but it is %s", "", describe(variants))
		return s
	case len(variants.Content) == 0:
		t.report(variants, "", "there are no variants here", "leave the field out")
	case len(variants.Content)/2 > maxVariants:
		t.report(variants, "", "there are %d variants, and a file has at most %d", "give the others their own file", len(variants.Content)/2, maxVariants)
		return s
	}
	// Each variant reports the problems of the whole file again. If there are already too
	// many, skip the other variants.
	for i := 0; i+1 < len(variants.Content) && t.found < maxRecorded; i += 2 {
		key, over := variants.Content[i], variants.Content[i+1]
		if bad := badName(key.Value); bad != "" {
			t.report(key, "", "%s", nameHint, bad)
		}
		if over.Kind != yaml.MappingNode {
			t.report(over, "", "expected a mapping of fields, but it is %s", "", describe(over))
			continue
		}
		root := merged(base, over, t.paths)
		own := t.draft(root)
		own.check()
		s.Variants = append(s.Variants, s.variant(key.Value, own, root))
	}
	return s
}

// A draft is a spec that is being read, with the places where its parts were written.
type draft struct {
	spec spec
	*decoder
	cast cast
	// foundBefore is the number of problems that the tree had when the draft was begun.
	earlier int
}

// cleanDraft returns an empty draft for checking the same file again: it has the places
// where things were written, and no problems.
func (d *decoder) again() *draft {
	t := *d.tree
	t.errs, t.found, t.meanings = nil, 0, map[question]meaning{}
	return &draft{decoder: &decoder{tree: &t, nodes: d.nodes}}
}

// decodeDraft decodes one complete version of the scenario.
func (t *tree) draft(root *yaml.Node) *draft {
	d := &draft{decoder: &decoder{tree: t, nodes: map[string]*yaml.Node{"": root}}, earlier: t.found}
	d.structs(root, "", reflect.ValueOf(&d.spec).Elem())
	d.cast = d.spec.cast()
	d.hintAtMeant()
	return d
}

// newScenario returns the scenario of a whole file, without its variants.
func (t *tree) story(d *draft) *Scenario {
	d.need("title")
	name := path.Base(strings.ReplaceAll(t.file, `\`, "/"))
	return &Scenario{
		Name:    strings.TrimSuffix(name, path.Ext(name)),
		File:    t.file,
		Title:   d.spec.Title,
		Group:   string(d.spec.Group),
		Source:  d.spec.Source,
		Telling: d.spec.telling(),
	}
}

func (s *Scenario) variant(name string, d *draft, root *yaml.Node) *Variant {
	return &Variant{
		Scenario:  s.Name,
		Name:      name,
		Title:     cmp.Or(d.spec.Title, s.Title),
		Telling:   d.spec.telling(), // complete, because the variant was merged into the file
		Lock:      string(d.spec.Lock.Kind),
		Witnesses: d.spec.Witnesses,
		Measures:  texts(d.spec.Measures...),
		spec:      d.spec,
		root:      root,
		written:   d.decoder,
	}
}

func (s *spec) telling() Telling {
	return Telling{
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
