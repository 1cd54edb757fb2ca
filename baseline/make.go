package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// A part is what can be made by itself.
type part struct {
	name, title string
	// slow: it takes as long as all others together, and is made only if it is named.
	slow bool
	// make returns the items of the part, and what to keep as the full records of them:
	// nil is the items themselves.
	make func(ctx context.Context, t *tree, say func(done, all int)) (items, records []item, err error)
}

// parts are all those of a baseline, in the order in which they are made.
func parts(seeds span) []part {
	scenarios := func(name string, s span) part {
		return part{name: name, title: "the scenarios on seeds " + s.String(), make: func(ctx context.Context, t *tree, say func(done, all int)) (items, records []item, err error) {
			return runScenarios(ctx, t, name, s, say)
		}}
	}
	simple := func(name, title string, make func(ctx context.Context, t *tree, part string) ([]item, error)) part {
		return part{name: name, title: title, make: func(ctx context.Context, t *tree, _ func(done, all int)) (items, records []item, err error) {
			items, err = make(ctx, t, name)
			return items, nil, err
		}}
	}
	first := span{seeds.first, seeds.first}
	all := []part{scenarios("scenarios/"+first.String(), first)}
	if seeds.last > seeds.first {
		rest := span{seeds.first + 1, seeds.last}
		all = append(all, scenarios("scenarios/"+rest.String(), rest))
	}
	all = append(all,
		simple("mutants/suite", "by what the suite catches each mutant", func(ctx context.Context, t *tree, part string) ([]item, error) {
			return mutants(ctx, t, part, mutantsTest)
		}),
		simple("mutants/explored", "by what a search catches each mutant", func(ctx context.Context, t *tree, part string) ([]item, error) {
			return mutants(ctx, t, part, exploredTest)
		}),
		simple("libraries", "what the suite finds in each library", libraries),
		simple("bugs", "the track record", bugs),
	)
	for _, s := range searches() {
		search := simple("ways/"+s.name, "locksim explore "+shellLine(s.args), func(ctx context.Context, t *tree, part string) ([]item, error) {
			return s.explore(ctx, t, part)
		})
		search.slow = s.slow
		all = append(all, search)
	}
	return all
}

// chosen are the parts of some names, separated by commas: ways stands for all whose
// name begins with ways/. An empty list is all. Slow ones have to be named.
func chosen(all []part, names string) ([]part, error) {
	if names == "" {
		return slices.DeleteFunc(slices.Clone(all), func(p part) bool { return p.slow }), nil
	}
	var some []part
	for name := range strings.SplitSeq(names, ",") {
		fits := func(p part) bool { return p.name == name || !p.slow && strings.HasPrefix(p.name, name+"/") }
		if !slices.ContainsFunc(all, fits) {
			var known []string
			for _, p := range all {
				known = append(known, p.name)
			}
			return nil, fmt.Errorf("there is no part %q; there are %s", name, strings.Join(known, ", "))
		}
		for _, p := range all {
			if fits(p) && !slices.ContainsFunc(some, func(q part) bool { return q.name == p.name }) {
				some = append(some, p)
			}
		}
	}
	return some, nil
}

// makeFlags are what the command make is told.
type makeFlags struct {
	commit, file, only string
	seeds              span
	jobs               int
}

func parseMake(args []string, stderr io.Writer) (makeFlags, error) {
	f := makeFlags{seeds: span{1, 20}}
	set := newFlags("make COMMIT -o FILE", stderr)
	set.StringVar(&f.file, "o", "", "the `file` to write, whose name ends with .txt; the full records go beside it, with .jsonl")
	set.StringVar(&f.only, "only", "", "make only these `parts`, such as scenarios,ways/single; others that the file has stay in it")
	set.Func("seeds", "run the scenarios on these `seeds` (default 1-20)", func(text string) (err error) {
		f.seeds, err = parseSpan(text)
		return err
	})
	set.IntVar(&f.jobs, "jobs", runtime.NumCPU(), "run this `many` processes at once")
	rest, err := parseFlags(set, args)
	switch {
	case err != nil:
	case len(rest) != 1:
		err = fmt.Errorf("make: name one commit, or %q for the files as they are; here are %d", asItStands, len(rest))
	case !strings.HasSuffix(f.file, ".txt"):
		err = fmt.Errorf("make: -o is %q; name a file that ends with .txt", f.file)
	case f.jobs < 1:
		err = fmt.Errorf("make: --jobs is %d; give a number from 1 on", f.jobs)
	default:
		f.commit = rest[0]
		_, err = chosen(parts(f.seeds), f.only)
	}
	if err != nil && !errors.Is(err, errHelped) {
		err = usage{err}
	}
	return f, err
}

// makeBaseline makes the parts that are asked for and writes the file after each, so
// that what was made is not lost if a later one fails.
func makeBaseline(ctx context.Context, f makeFlags, stderr io.Writer) error {
	b, records := baseline{parts: map[string]string{}}, []recordLine(nil)
	if f.only != "" {
		old, err := read(f.file)
		if err == nil {
			b = old
			records, err = readRecords(f.file)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return usage{fmt.Errorf("what is there already cannot be kept: %w", err)}
		}
	}
	wanted, err := chosen(parts(f.seeds), f.only)
	if err != nil {
		return usage{err}
	}
	t, remove, err := checkout(ctx, f.commit, f.jobs)
	if err != nil {
		return err
	}
	defer remove()
	for _, p := range wanted {
		items, full, err := p.made(ctx, t, stderr)
		if err != nil {
			return fmt.Errorf("%s of %s: %w", p.name, t.commit, err)
		}
		b.parts[p.name] = t.commit
		b.items = append(slices.DeleteFunc(b.items, func(i item) bool { return i.part == p.name }), items...)
		records = slices.DeleteFunc(records, func(r recordLine) bool { return r.Part == p.name })
		for _, i := range full {
			records = append(records, recordLine{i.part, i.key, i.record})
		}
		if err := write(f.file, b, records); err != nil {
			return err
		}
	}
	return nil
}

// made makes a part and says so.
func (p part) made(ctx context.Context, t *tree, stderr io.Writer) (items, records []item, err error) {
	began := time.Now()
	told := time.Now()
	fmt.Fprintf(stderr, "%s: %s\n", p.name, p.title)
	items, records, err = p.make(ctx, t, func(done, all int) {
		if done < all && time.Since(told) > 10*time.Second {
			told = time.Now()
			fmt.Fprintf(stderr, "%s: %d of %d\n", p.name, done, all)
		}
	})
	if err = cmp.Or(ctx.Err(), err); err != nil {
		return nil, nil, err
	}
	fmt.Fprintf(stderr, "%s: %d items in %v\n", p.name, len(items), time.Since(began).Round(time.Second))
	if records == nil {
		records = items
	}
	return items, records, nil
}

// known is the committed baseline, and checkedPart the part of it that is quick enough to
// be compared each time.
const (
	known       = "baseline/known.txt"
	checkedPart = "scenarios/1"
)

// check compares the files as they are with the committed baseline, as far as that is
// quick.
func check(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	set := newFlags("check [FILE]", stderr)
	rest, err := parseFlags(set, args)
	if err != nil {
		return err
	}
	if len(rest) > 1 {
		return usage{fmt.Errorf("check: name one file or none, which is %s; here are %d", known, len(rest))}
	}
	scratch, err := os.MkdirTemp("", "locksim-baseline")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	file := scratch + "/now.txt"
	was := known
	if len(rest) == 1 {
		was = rest[0]
	}
	if _, err := read(was); err != nil {
		return usage{err}
	}
	f := makeFlags{commit: asItStands, file: file, only: checkedPart, seeds: span{1, 1}, jobs: runtime.NumCPU()}
	if err := makeBaseline(ctx, f, stderr); err != nil {
		return err
	}
	err = compare(was, file, 10, stdout)
	if errors.Is(err, errDiffer) {
		fmt.Fprintf(stdout, "\nIf that is meant, make the baseline anew, commit it with the change, and say in the message what changed and why:\n  go run ./baseline make %s -o %s\n", asItStands, known)
	}
	return err
}
