package suites

import (
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/storyboard"
	"github.com/locksim/locksim/scenarios"
)

// corner matches a corner of a line in a path.
var corner = regexp.MustCompile(`[ML](-?[0-9]+) (-?[0-9]+)`)

// CheckStoryboards tests that the storyboard of every scenario can be drawn and fits one
// slide: it has at most three clients, four critical sections and eight moments, no text covers
// another, nothing is outside, and no text is smaller than 16 pixels. Its description has
// every word of its texts. Drawing it again gives the same storyboard.
func CheckStoryboards(t *testing.T, stories []*scenarios.Scenario) {
	for _, s := range sample(stories) {
		r := mustResult(t, s)
		for _, v := range r.Scenario.Variants {
			t.Run(s.Name+" "+v.Name, func(t *testing.T) {
				var runs []story.Run
				for _, run := range r.Runs {
					if run.Variant == v {
						runs = append(runs, story.Run{History: run.History, Verdict: run.Verdict, Witnesses: run.Witnesses(), ID: "x", Title: run.Fencing})
					}
				}
				for _, some := range [][]story.Run{runs, runs[:1]} {
					b := storyboard.Draw(s.Title+": "+v.Name, some)
					checkStoryboard(t, b)
					checkDescription(t, b)
					checkRefusals(t, b, some)
					if again := storyboard.Draw(s.Title+": "+v.Name, some); !reflect.DeepEqual(b, again) {
						t.Error("drawn again, the storyboard is another")
					}
				}
			})
		}
	}
}

// captionedRefusal matches the caption of a refusal with its two tokens, or with the version
// of the object.
var captionedRefusal = regexp.MustCompile(`refused: (?:token ([0-9]+) < ([0-9]+)|the object is at v([0-9]+))`)

// checkRefusals tests that the reason for each refusal in a storyboard is the one that the
// storage gave.
func checkRefusals(t *testing.T, b *storyboard.Board, runs []story.Run) {
	t.Helper()
	var reasons strings.Builder
	for _, run := range runs {
		for _, ev := range run.History.ServedRequests() {
			reasons.WriteString(ev.Text + "\n")
		}
	}
	for _, m := range captionedRefusal.FindAllStringSubmatch(b.Desc(), -1) {
		want := "token " + m[1] + " is older than token " + m[2] + ", which"
		if m[3] != "" {
			want = " is now at version " + m[3] + "\n"
		}
		if !strings.Contains(reasons.String(), want) {
			t.Errorf("the storyboard says %q, and the storage never said %q", m[0], want)
		}
	}
}

// checkDescription tests that the description of a storyboard has every word that the picture has
// about the moments, the endings and what is left out, because some readers have only the
// description.
func checkDescription(t *testing.T, b *storyboard.Board) {
	t.Helper()
	desc := b.Desc()
	for _, text := range b.Texts {
		line, isFoot := strings.CutPrefix(text.Line.String(), "and ")
		if !isFoot && !strings.HasPrefix(text.Class, "caption") {
			continue
		}
		for word := range strings.FieldsSeq(line) {
			if word = strings.TrimRight(word, ",:…"); !strings.Contains(desc, word) {
				t.Errorf("the description lacks %q of %q: %s", word, line, desc)
			}
		}
	}
}

// checkStoryboard tests one storyboard.
func checkStoryboard(t *testing.T, b *storyboard.Board) {
	t.Helper()
	if b.Moments < 1 || b.Moments > 8 {
		t.Errorf("there are %d moments, want 1 to 8", b.Moments)
	}
	if b.Steps > storyboard.MaxSteps {
		t.Errorf("there are %d steps, and the names of files are for at most %d", b.Steps, storyboard.MaxSteps)
	}
	for class, most := range map[string]int{"board-lane client": 3, "board-bar section": 4, "board-lane node": 1, "board-lane storage": 1, "tick-line": 8} {
		n := 0
		for _, s := range b.Shapes {
			if strings.HasPrefix(s.Class, class) {
				n++
			}
		}
		if n > most {
			t.Errorf("there are %d shapes of the class %q, want at most %d", n, class, most)
		}
	}
	for _, s := range b.Shapes {
		if s.Path == "" && (s.X < 0 || s.Y < 0 || s.W <= 0 || s.H <= 0 || s.X+s.W > storyboard.Width || s.Y+s.H > storyboard.Height) {
			t.Errorf("the shape %+v is not on the slide", s)
		}
		for _, at := range corner.FindAllStringSubmatch(s.Path, -1) {
			x, _ := strconv.Atoi(at[1])
			y, _ := strconv.Atoi(at[2])
			if x < 0 || x > storyboard.Width || y < 0 || y > storyboard.Height {
				t.Errorf("the line %+v is not on the slide", s)
			}
		}
	}
	for i, text := range b.Texts {
		box := text.Box()
		if text.Size < 16 {
			t.Errorf("the text %q has the size %d, want at least 16", text.Line, text.Size)
		}
		if box.X < 0 || box.Y < 0 || box.X+box.W > storyboard.Width || box.Y+box.H > storyboard.Height {
			t.Errorf("the text %q at %+v is not on the slide", text.Line, box)
		}
		for _, other := range b.Texts[i+1:] {
			if o := other.Box(); box.X < o.X+o.W && o.X < box.X+box.W && box.Y < o.Y+o.H && o.Y < box.Y+box.H {
				t.Errorf("the text %q covers %q", text.Line, other.Line)
			}
		}
	}
}
