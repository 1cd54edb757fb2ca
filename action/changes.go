package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/reports"
)

const (
	changesFile   = "locksim-changes.json"
	changesSchema = "locksim/changes/v1"
	// maxChanges is the greatest size of changesFile in bytes.
	maxChanges = 4 << 20
)

// A document says what a pull request changes, compared with its base: the commit that it
// starts from. The texts can contain anything, because code of the pull request makes them.
type document struct {
	Schema string `json:"schema"`
	// NoBase says why there is no base to compare with; "" if there is one.
	NoBase string `json:"no_base,omitempty"`
	Parts  []part `json:"parts"`
}

// A part compares the results of one command in the pull request and in its base.
type part struct {
	Command string `json:"command"`
	// Problem says why the command has no result in the pull request, and NoBase why it has none in
	// the base. Each is "" if there is a result.
	Problem string `json:"problem,omitempty"`
	NoBase  string `json:"no_base,omitempty"`
	// Broken is how many results of the pull request have a violation. A result is a run of a
	// scenario, a way to break a lock that a search found, or a mistake that the suite locktest
	// found.
	Broken  int      `json:"broken"`
	New     []change `json:"new"`
	Healed  []change `json:"healed"`
	Unknown []change `json:"unknown"`
}

// A change is one result that differs between the pull request and its base.
type change struct {
	Title  string `json:"title"`
	Detail string `json:"detail"`
	Replay string `json:"replay,omitempty"`
}

// isWorse reports whether there is a new violation, a result that is no longer known, or a
// command that has no result.
func (d *document) isWorse() bool {
	return slices.ContainsFunc(d.Parts, func(p part) bool { return p.Problem != "" || len(p.New)+len(p.Unknown) > 0 })
}

// isSame reports whether nothing differs.
func (d *document) isSame() bool {
	return !d.isWorse() && !slices.ContainsFunc(d.Parts, func(p part) bool { return len(p.Healed) > 0 })
}

// count returns how many changes all parts have together. of selects the changes of a part.
func (d *document) count(of func(part) []change) (n int) {
	for _, p := range d.Parts {
		n += len(of(p))
	}
	return n
}

// writeChanges runs everything in the pull request and in its base, and writes the difference
// to the file, the summary of the job and the outputs of the step.
func writeChanges(ctx context.Context, e *event, s settings) error {
	head := checkout{"head", s.Workspace, s.Folder}
	parents, err := parentsOf(ctx, s.Workspace)
	if err != nil {
		return err
	}
	var base *checkout
	sha, why := e.baseCommit(parents)
	if why == "" {
		base = &checkout{"base", filepath.Join(s.Scratch, "locksim-base"), s.Folder}
		if err := checkOutBase(ctx, s.Workspace, sha, base.Root); err != nil {
			return err
		}
		defer func() {
			_, _ = git(context.WithoutCancel(ctx), s.Workspace, "worktree", "remove", "--force", base.Root)
		}()
	}
	d := document{Schema: changesSchema, NoBase: why, Parts: []part{}}
	add := func(command []string, run func(checkout) (result, error)) {
		if err != nil {
			return
		}
		var p part
		if p, err = comparePart(strings.Join(command, " "), head, base, run); err == nil {
			d.Parts = append(d.Parts, p)
		}
	}
	for _, args := range s.Run {
		add(append([]string{"locksim", "run"}, args...), func(t checkout) (result, error) { return s.runScenarios(ctx, t, args) })
	}
	for _, args := range s.Explore {
		add(append([]string{"locksim", "explore"}, args...), func(t checkout) (result, error) { return s.search(ctx, t, args) })
	}
	for _, pattern := range s.Test {
		add([]string{"go", "test", pattern}, func(t checkout) (result, error) { return s.test(ctx, t, pattern) })
	}
	if err != nil {
		return err
	}
	if err := d.write(s); err != nil {
		return err
	}
	if d.isWorse() && !s.NeverFails {
		return errBroken
	}
	return nil
}

// comparePart runs one command in both checkouts and compares the results. base is nil if
// there is no base.
func comparePart(command string, head checkout, base *checkout, run func(checkout) (result, error)) (part, error) {
	p := part{Command: command, New: []change{}, Healed: []change{}, Unknown: []change{}}
	after, err := run(head)
	if err != nil {
		return p, err
	}
	if p.Problem = after.Problem; p.Problem != "" {
		return p, nil
	}
	if base == nil {
		p.Broken = broken(after)
		return p, nil
	}
	before, err := run(*base)
	if err != nil {
		// A command that the pull request adds cannot be started in the base.
		before = result{Problem: err.Error()}
	}
	p.NoBase, p.Broken = before.Problem, broken(after)
	if after.Found != nil {
		if before.Found == nil {
			before.Found = &explore.Result{}
		}
		p.compareSearches(before.Found, after.Found)
	} else {
		p.compareItems(before.Items, after.Items)
	}
	return p, nil
}

// broken counts the ways, runs or mistakes in a result that have a violation.
func broken(r result) (n int) {
	if r.Found != nil {
		return len(r.Found.Ways)
	}
	for _, i := range r.Items {
		if len(i.Breaks) > 0 {
			n++
		}
	}
	return n
}

// compareItems compares runs or mistakes that have the same ID.
func (p *part) compareItems(before, after []item) {
	find := func(items []item, id string) item {
		if i := slices.IndexFunc(items, func(i item) bool { return i.ID == id }); i >= 0 {
			return items[i]
		}
		return item{}
	}
	for _, a := range after {
		b := find(before, a.ID)
		if a.Unknown != "" {
			if b.Unknown == "" {
				p.Unknown = append(p.Unknown, change{a.Title, a.Unknown, a.Replay})
			}
			continue
		}
		added, removed := difference(a.Breaks, b.Breaks), difference(b.Breaks, a.Breaks)
		switch {
		case len(added) > 0 && len(b.Breaks) == 0:
			p.New = append(p.New, change{a.Title, "violates " + strings.Join(added, ", "), a.Replay})
		case len(added) > 0:
			p.New = append(p.New, change{a.Title, "now also violates " + strings.Join(added, ", "), a.Replay})
		case len(removed) > 0:
			p.Healed = append(p.Healed, change{a.Title, "no longer violates " + strings.Join(removed, ", "), ""})
		}
	}
	isUnknown := func(pkg string) bool { return pkg != "" && find(after, pkg).Unknown != "" }
	for _, b := range before {
		if len(b.Breaks) > 0 && find(after, b.ID).ID == "" && !isUnknown(b.Package) {
			p.Healed = append(p.Healed, change{b.Title, "is not there any more; it violated " + strings.Join(b.Breaks, ", "), ""})
		}
	}
}

// difference returns the words of a that are not in b.
func difference(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(w string) bool { return slices.Contains(b, w) })
}

// compareSearches compares the ways of two searches, as locksim explore --expect does.
func (p *part) compareSearches(before, after *explore.Result) {
	replay := p.Command + " --ways explored/"
	c := reports.Compare(after, before, "its base")
	for _, n := range c.New {
		detail := n.Worse
		if detail == "" {
			detail = "is new: " + breakage(n.Way)
		}
		p.New = append(p.New, change{cmp.Or(n.Way.Title, n.Way.ID), detail, replay})
	}
	for _, w := range c.Gone {
		p.Healed = append(p.Healed, change{cmp.Or(w.Title, w.ID), "is not found any more; " + breakage(w), ""})
	}
}

// breakage says which properties a way to break a lock violates.
func breakage(w explore.Way) string {
	var words []string
	if len(w.Off) > 0 {
		words = append(words, "violates "+strings.Join(w.Off, ", "))
	}
	if len(w.On) > 0 {
		words = append(words, "with fencing tokens "+strings.Join(w.On, ", "))
	}
	return strings.Join(words, "; ")
}

// write writes the document, the summary of the job and the outputs of the step.
func (d *document) write(s settings) error {
	data, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(s.Changes, append(data, '\n'), 0o666); err != nil {
		return err
	}
	newOnes := func(p part) []change { return p.New }
	outputs := fmt.Sprintf("changes=%s\nnew=%d\nhealed=%d\nunknown=%d\n", s.Changes, d.count(newOnes),
		d.count(func(p part) []change { return p.Healed }), d.count(func(p part) []change { return p.Unknown }))
	return errors.Join(appendTo(s.Summary, d.markdown("")), appendTo(s.Output, outputs))
}

// appendTo appends a text to a file that GitHub reads. It does nothing if the file's name is
// "".
func appendTo(name, text string) error {
	if name == "" {
		return nil
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// readChanges reads the file that writeChanges wrote, in another job. The file comes from
// code of the pull request, so it can contain anything.
func readChanges(name string) (*document, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxChanges {
		return nil, fmt.Errorf("%s is not a file of at most %d bytes", name, maxChanges)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	d := &document{}
	if err := json.Unmarshal(data, d); err != nil || d.Schema != changesSchema {
		return nil, fmt.Errorf("%s is not a document of the schema %s", name, changesSchema)
	}
	return d, nil
}
