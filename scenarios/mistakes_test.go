package scenarios

import (
	"fmt"
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/testkit/simtest"
)

// Each file with a mistake gives the wanted error.
func TestBadFiles(t *testing.T) {
	for _, m := range simtest.Mistakes {
		t.Run(m.Name, func(t *testing.T) {
			if _, err := Parse("x.yaml", []byte(m.Text())); err == nil {
				t.Error("Parse accepts the file")
			} else if err.Error() != m.Want {
				t.Errorf("\nthe error is %s\nwant         %s", err, m.Want)
			}
		})
	}
}

// The file from which the files with mistakes are made has no mistake itself.
func TestTheGoodFileIsGood(t *testing.T) {
	if _, err := Parse("x.yaml", []byte(simtest.GoodScenario)); err != nil {
		t.Error(err)
	}
}

// At most ten problems are reported.
func TestManyProblems(t *testing.T) {
	text := simtest.GoodScenario
	for i := range 30 {
		text += fmt.Sprintf("x%d: 1\n", i)
	}
	_, err := Parse("x.yaml", []byte(text))
	if err == nil {
		t.Fatal("Parse accepts the file")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 10 || !strings.HasPrefix(lines[0], "x.yaml:15: x0: ") || !strings.HasPrefix(lines[9], "x.yaml:24: x9: ") {
		t.Errorf("%d problems are reported, want those of x0 to x9:\n%v", len(lines), err)
	}
}
