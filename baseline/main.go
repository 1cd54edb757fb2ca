// Command baseline writes the results of a commit to a text file. There are lines for the runs of
// the scenarios, for each way to break a lock that a search finds, for each mutant (a lock with a
// deliberate mistake) and for each library. Large values are digests. The file is committed, so
// that git diff shows what a change has changed. See README.md.
//
// The program imports no other package of the project. It reads the JSON output of the
// command locksim, and the attributes that tests write. Therefore it can check any change
// of the packages.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var c checkout
	file := flag.String("o", "baseline/known.txt", "write this `file`; it keeps the lines of other parts")
	only := flag.String("only", "", "make only these `parts`, such as scenarios,ways/single")
	flag.StringVar(&c.dir, "C", ".", "use the files in this `folder`: a checkout of another commit")
	flag.IntVar(&c.jobs, "jobs", runtime.NumCPU(), "run this `many` processes at the same time")
	flag.Parse()
	if err := makeParts(ctx, &c, *only, *file); err != nil {
		fmt.Fprintln(os.Stderr, "baseline:", cmp.Or(ctx.Err(), err))
		os.Exit(1)
	}
}

// A part is a set of lines of the file that can be made separately.
type part struct {
	name string
	// slow means that making the part takes longer than making all others together. Such a
	// part is made only if it is named.
	slow bool
	make func(context.Context, *checkout) ([]line, error)
}

// parts returns all parts, in the order in which they are made.
func parts() []part {
	all := []part{
		{name: "scenarios/1", make: makeScenarios(1, 1)},
		{name: "scenarios/2-20", make: makeScenarios(2, 20)},
		{name: "mutants/suite", make: makeMutants("TestMutants")},
		{name: "mutants/explored", make: makeMutants("TestExploreMutants")},
		{name: "libraries", make: makeLibraries},
		{name: "bugs", make: makeBugs},
	}
	for _, s := range searches {
		all = append(all, part{name: "ways/" + s.name, slow: s.slow, make: s.explore})
	}
	return all
}

// chooseParts returns the parts that names lists, separated by commas. A name such as ways
// means all parts whose names begin with ways/, except the slow ones. "" means all parts that
// are not slow.
func chooseParts(names string) ([]part, error) {
	all := parts()
	if names == "" {
		return slices.DeleteFunc(all, func(p part) bool { return p.slow }), nil
	}
	var chosen []part
	for name := range strings.SplitSeq(names, ",") {
		before := len(chosen)
		for _, p := range all {
			if p.name == name || !p.slow && strings.HasPrefix(p.name, name+"/") {
				chosen = append(chosen, p)
			}
		}
		if len(chosen) == before {
			var known []string
			for _, p := range all {
				known = append(known, p.name)
			}
			return nil, fmt.Errorf("there is no part %q; there are %s", name, strings.Join(known, ", "))
		}
	}
	return chosen, nil
}

// makeParts makes the parts. It writes the file after each part, so that a later failure
// loses none of the finished parts.
func makeParts(ctx context.Context, c *checkout, only, file string) error {
	chosen, err := chooseParts(only)
	if err != nil {
		return err
	}
	remove, err := c.build(ctx)
	if err != nil {
		return err
	}
	defer remove()
	for _, p := range chosen {
		began := time.Now()
		lines, err := p.make(ctx, c)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		changed, err := replacePart(file, p.name, lines)
		if err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "%s: %d lines in %v; %d of them are new in %s\n", p.name, len(lines), time.Since(began).Round(time.Second), changed, file)
	}
	return nil
}
