package scenarios

// A Voice is somebody who wrote about such locks, and what they say of a story.
// They say what their text says, told in other words: nothing follows from it
// that they did not write, and who did not speak of a case can be left out.
type Voice struct {
	// Name is short, as in a table.
	Name string
	// Says is the text, which may be several lines.
	Says string
}

// Voices are those who have something to say, always in the same order.
//
// Their texts are Martin Kleppmann's "How to do distributed locking"
// (https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html)
// and his "Designing Data-Intensive Applications", Salvatore Sanfilippo's "Is
// Redlock safe?" (http://antirez.com/news/101), and the documentation of Redis,
// above all its page on locks as it is today
// (https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/).
func (t Telling) Voices() []Voice {
	var voices []Voice
	for _, v := range []Voice{
		{"Kleppmann", t.Kleppmann},
		{"Sanfilippo", t.Sanfilippo},
		{"redis.io", t.Redis},
	} {
		if v.Says != "" {
			voices = append(voices, v)
		}
	}
	return voices
}
