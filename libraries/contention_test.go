package libraries_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/scenarios"
)

// contentionColumns are the figures in the columns of the table of locks under contention.
// Two columns come before them: the lock and the number of clients.
var contentionColumns = []string{
	"time-to-acquire: median", "time-to-acquire: 99th percentile", "fairness: Jain index", "fairness: most overtaken",
	"traffic: messages per section", "traffic: round trips per section", "traffic: bytes per section", "sections: per minute",
}

// The table of locks under contention states the results of a scenario file. The test
// checks every row with one client and every row with ten. Rows with a hundred clients take
// most of a minute, so it checks only two of them: a lock that clients poll, and a lock
// that keeps a queue.
func TestContentionIsAsTheDocumentSays(t *testing.T) {
	if testing.Short() {
		t.Skip("this test runs each lock with ten clients, and two locks with a hundred")
	}
	s := openDocFile(t, "contention-of-locks.yaml")
	document, err := os.ReadFile("../docs/comparison.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(document), "## Under contention")
	checked := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "| "), " | ")
		if len(cells) != 2+len(contentionColumns) {
			continue
		}
		lock, clients := cells[0], cells[1]
		v := slices.IndexFunc(s.Variants, func(v *scenarios.Variant) bool { return v.Name == "of-"+clients })
		if v < 0 || clients == "100" && lock != "single" && lock != "zookeeper" {
			continue
		}
		checked++
		runs := runVariant(t, s.Variants[v], lock)
		figures := map[string]int64{}
		for _, m := range runs[0].Measures {
			for _, f := range m.Figures {
				figures[m.Name+": "+f.Name] = f.Value
			}
		}
		for i, name := range contentionColumns {
			if got, hasFigure := figures[name]; !statesFigure(cells[2+i], got, hasFigure) {
				t.Errorf("%s with %s clients, %s: the figure is %d, and the document says %s", lock, clients, name, got, cells[2+i])
			}
		}
	}
	if checked != 18 {
		t.Errorf("%d rows are checked, want 18", checked)
	}
}

// statesFigure reports whether a cell of the table states a figure. A time is rounded to a
// millisecond, or from one second on to a tenth of a second. "–" states that there is no
// figure.
func statesFigure(cell string, figure int64, hasFigure bool) bool {
	if cell == "–" || !hasFigure {
		return cell == "–" && !hasFigure
	}
	d, err := time.ParseDuration(cell)
	if err != nil {
		return cell == fmt.Sprint(figure) || cell == fmt.Sprintf("%d %%", figure)
	}
	exact := time.Millisecond
	if d >= time.Second {
		exact = 100 * time.Millisecond
	}
	return time.Duration(figure).Round(exact) == d
}
