package story

import "testing"

func TestWords(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{List[string](nil), ""},
		{List([]string{"a"}), "a"},
		{List([]string{"a", "b"}), "a and b"},
		{List([]string{"a", "b", "c"}), "a, b and c"},
		{Alternatives([]string{"a"}), "a"},
		{Alternatives([]string{"a", "b", "c"}), "a, b or c"},
		{Count(0, "message"), "0 messages"},
		{Count(1, "message"), "1 message"},
		{Count(uint64(8934), "message"), "8,934 messages"},
		{Thousands(999), "999"},
		{Thousands(1000), "1,000"},
		{Thousands(17912345), "17,912,345"},
		{Ordinal(1), "first"},
		{Ordinal(10), "tenth"},
		{Ordinal(11), "11th"},
		{Ordinal(22), "22nd"},
		{Ordinal(111), "111th"},
		{Thousands(uint64(1<<64 - 1)), "18,446,744,073,709,551,615"},
	} {
		if c.got != c.want {
			t.Errorf("got the words %q, want %q", c.got, c.want)
		}
	}
}
