package exercises

import (
	"fmt"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports"
	"os"
	"path/filepath"
	"testing"
)

func TestTry(t *testing.T) {
	root, _ := filepath.Abs("../..")
	folders, _ := filepath.Glob("_solutions/*")
	if one := os.Getenv("ONE"); one != "" {
		folders = []string{one}
	}
	for _, f := range folders {
		dir := t.TempDir()
		data, _ := os.ReadFile(f + "/lock.go")
		test, _ := os.ReadFile("_module/lock_test.go")
		mod := "module mylock\n\ngo 1.26.0\n\nrequire github.com/locksim/locksim v0.1.0\nreplace github.com/locksim/locksim => " + root + "\n"
		_ = mod
		os.WriteFile(dir+"/lock.go", data, 0o644)
		os.WriteFile(dir+"/lock_test.go", test, 0o644)
		os.CopyFS(dir, os.DirFS(os.Getenv("MODDIR")))
		tr, err := OpenTrial(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := tr.Build(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, s := range Stages() {
			failure, err := tr.Check(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			if failure != nil {
				t.Logf("%s stage %d: FAIL %d/%d %s\n%s\n%s\n%s", f, s.Number, failure.Failed, failure.Of, failure.Address, failure.World, failure.Why, failure.Lines)
			} else {
				t.Logf("%s stage %d: ok", f, s.Number)
			}
		}
		tr.Close()
	}
}
func TestReplayOne(t *testing.T) {
	dir := t.TempDir()
	data, _ := os.ReadFile(os.Getenv("ONE") + "/lock.go")
	test, _ := os.ReadFile("_module/lock_test.go")
	os.WriteFile(dir+"/lock.go", data, 0o644)
	os.WriteFile(dir+"/lock_test.go", test, 0o644)
	os.CopyFS(dir, os.DirFS(os.Getenv("MODDIR")))
	tr, err := OpenTrial(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.Build(t.Context()); err != nil {
		t.Fatal(err)
	}
	w, _ := parseAddress(os.Getenv("ADDR"))
	rs, err := tr.run(t.Context(), []trialWorld{w})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(w.text)
	h := history.New(rs[0].Trace)
	v, _ := w.variant()
	run := v.Judge(rs[0].Trace, lockName, w.fencing())
	fmt.Println(reports.Timeline{Messages: os.Getenv("MSG") != "", Width: 100}.Render([]string{""}, []*history.History{h}))
	for _, f := range run.Verdict.Findings {
		fmt.Println(f.Property, f.Outcome, f.Blame, f.Reason)
	}
	fmt.Println(run.Verdict.Reasons)
}
