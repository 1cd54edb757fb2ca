package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/internal/quiz"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/website"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// siteFlags are the flags of the commands that make the site.
type siteFlags struct {
	playground string
	seeds      int
}

// define adds the flags to a command.
func (f *siteFlags) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.playground, "playground", "", "add the playground from this `folder`; in a clone, go run ./playground/build makes one")
	flags.IntVar(&f.seeds, "seeds", 5, "on how many seeds the locks are compared")
	if err := cmd.MarkFlagDirname("playground"); err != nil {
		panic(err) // the flag was just defined
	}
}

// check checks the flags, before anything is run.
func (f *siteFlags) check() error {
	if website.Convert == nil {
		return notLinkedError{errors.New("locksim: the documents are not linked into this program, so it cannot make the site; locksim-all can")}
	}
	if f.seeds < 1 || f.seeds > maxSeeds {
		return fmt.Errorf("locksim: --seeds is %d; give a number from 1 to %d", f.seeds, maxSeeds)
	}
	if f.playground == "" {
		return nil
	}
	if _, err := os.Stat(filepath.Join(f.playground, reports.FrontPage)); err != nil {
		return fmt.Errorf("locksim: --playground %s has no %s, so it is no playground; in a clone, go run ./playground/build OUT/ makes one", f.playground, reports.FrontPage)
	}
	return nil
}

func siteCommand() *cobra.Command {
	f := &siteFlags{}
	cmd := &cobra.Command{
		Use:   "site OUT/",
		Short: "Make a static site: chapters, questions, scenarios, comparison, documents",
		Long: `Make a static site in the folder OUT: the chapters, the questions, a page for each
built-in scenario, the comparison of all locks, and the documents. With --playground it
has the playground, too. All links are relative, so any server can show the folder, and
so can locksim serve. No page asks another host for anything.

The folder must not exist, or must be empty, or must have nothing but a site that this
command has made. It is replaced as a whole, after everything was run.`,
		Example: `  locksim site public/
  locksim site public/ --playground play/`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("locksim site: name one folder for the site, not %d", len(args))
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	f.define(cmd)
	return cmd
}

func (f *siteFlags) run(cmd *cobra.Command, name string) error {
	if err := f.check(); err != nil {
		return err
	}
	folder, err := findSiteFolder(name)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp(filepath.Dir(folder.path), ".locksim-site-")
	if err != nil {
		return fmt.Errorf("locksim site %s: nothing can be written beside it: %w", name, systemError(err))
	}
	stop := removeOnInterrupt(scratch)
	made := filepath.Join(scratch, "made")
	count, err := f.make(cmd.ErrOrStderr(), made)
	stop()
	if err == nil {
		err = deferInterrupts(func() error { return folder.replace(made, scratch) })
	}
	if _, isKept := errors.AsType[keptSiteError](err); !isKept {
		err = errors.Join(err, os.RemoveAll(scratch))
	}
	if err != nil {
		return failure{unexpected, err}
	}
	return printLine(cmd.ErrOrStderr(), "wrote %s into %s; open %s, or run: locksim serve %s", fileCount(count), filepath.Clean(name), filepath.Join(name, reports.FrontPage), story.ShellWord(name))
}

// make makes the site in a new folder, and returns how many files it has.
func (f *siteFlags) make(stderr io.Writer, dir string) (int, error) {
	w := &siteWriter{dir: dir}
	site := website.Site{Scenarios: map[string]bool{}, HasPlayground: f.playground != ""}
	for _, in := range builtIn() {
		site.Scenarios[in.Name] = true
	}
	steps := []func() error{
		func() error { return writeScenarioPages(stderr, w, site) },
		func() error { return f.writeComparison(stderr, w, site) },
		func() error {
			questions := 0
			for _, t := range quiz.Topics() {
				questions += len(t.Items)
			}
			progress := newProgress(stderr, questions)
			defer progress.clear()
			pages, err := site.QuestionPages(progress.next)
			return errors.Join(err, w.writePages(pages))
		},
		func() error {
			pages, err := site.DocumentPages()
			return errors.Join(err, w.writePages(pages))
		},
		func() error { return f.copyPlayground(w, site) },
		func() error { return w.writePages([]website.Page{site.Start()}) },
		func() error { return w.writeManifest() },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return 0, err
		}
	}
	return len(w.files), nil
}

// writeScenarioPages runs all built-in scenarios with their own locks, and writes a page for
// each, and one with the table of all.
func writeScenarioPages(stderr io.Writer, w *siteWriter, site website.Site) error {
	o := reports.Options{Arguments: argumentsOf(builtIn()...), SiteLinks: site.Links("../")}
	results, err := runAll(stderr, jobsOf(builtIn(), nil), scenarios.RunOptions{Seed: 1, Patience: sim.DefaultPatience}, o)
	if err != nil {
		return err
	}
	html, _ := reports.Runs.Lookup("html")
	return w.writeReport(website.ScenariosFolder, html.Pages(results, o))
}

// writeComparison runs the scenarios of all systems with all locks, and writes the comparison.
func (f *siteFlags) writeComparison(stderr io.Writer, w *siteWriter, site website.Site) error {
	c := &compareFlags{seeds: f.seeds}
	c.seed, c.timeout = 1, sim.DefaultPatience
	t, err := c.runAll(stderr, systemScenarios())
	if err != nil {
		return err
	}
	html, _ := reports.Tallies.Lookup("html")
	return w.writeReport(website.ComparisonFolder, html.Pages(t, reports.Options{Arguments: argumentsOf(systemScenarios()...), SiteLinks: site.Links("../")}))
}

// copyPlayground copies the files of the playground. Its page gets the links to the other parts
// of the site.
func (f *siteFlags) copyPlayground(w *siteWriter, site website.Site) error {
	if f.playground == "" {
		return nil
	}
	return fs.WalkDir(os.DirFS(f.playground), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(f.playground, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		if name == reports.FrontPage {
			data = bytes.Replace(data, []byte(website.NavPlace), []byte(site.Nav("../")), 1)
		}
		return w.write(path.Join(website.PlaygroundFolder, name), data)
	})
}
