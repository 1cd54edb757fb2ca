package edn

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/story"
)

// A keyword is a keyword of EDN, such as :ok. Only words that this program defines become keywords.
// Names and texts of a run become strings, because a string can contain any character.
type keyword string

// fields are the entries of an EDN map, in order.
type fields []field

// A field is one entry of an EDN map.
type field struct {
	key   keyword
	value any
}

// encode writes a value as EDN. A value is nil, a number, a string, a keyword, a vector
// ([]any) or a map (fields). Durations are written in nanoseconds.
func encode(b *strings.Builder, value any) {
	switch v := value.(type) {
	case nil:
		b.WriteString("nil")
	case int:
		fmt.Fprint(b, v)
	case time.Duration:
		fmt.Fprint(b, int64(v))
	case uint64:
		fmt.Fprint(b, v)
		if v > math.MaxInt64 {
			b.WriteByte('N') // a Clojure integer has 64 bits with a sign; N marks a larger number
		}
	case string:
		b.WriteString(`"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(story.Visible(v)) + `"`)
	case keyword:
		b.WriteString(":" + string(v))
	case []any:
		b.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				b.WriteByte(' ')
			}
			encode(b, item)
		}
		b.WriteByte(']')
	case fields:
		b.WriteByte('{')
		for i, field := range v {
			if i > 0 {
				b.WriteString(", ")
			}
			encode(b, field.key)
			b.WriteByte(' ')
			encode(b, field.value)
		}
		b.WriteByte('}')
	default:
		panic(fmt.Sprintf("edn: cannot write a value of type %T", value)) // only this program creates values
	}
}
