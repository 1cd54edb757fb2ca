package scenarios

import (
	"fmt"
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/testkit/simtest"
)

func TestBadFiles(t *testing.T) {
	for _, m := range simtest.Mistakes {
		t.Run(m.Name, func(t *testing.T) {
			if _, err := Parse("x.yaml", []byte(m.Text())); err == nil {
				t.Error("Parse accepts it")
			} else if err.Error() != m.Want {
				t.Errorf("\ngot  %s\nwant %s", err, m.Want)
			}
		})
	}
}

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
		t.Fatal("Parse accepts it")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 10 || !strings.HasPrefix(lines[0], "x.yaml:15: x0: ") || !strings.HasPrefix(lines[9], "x.yaml:24: x9: ") {
		t.Errorf("%d problems are reported:\n%v", len(lines), err)
	}
}
