package scenarios

// An Opinion is what an author who wrote about such locks says about a case like the
// scenario's. It rephrases the author's text, and adds no conclusion that the author did
// not write. If an author wrote nothing about such a case, the scenario has no Opinion of
// that author.
type Opinion struct {
	// Author is a short name, for a column of a table.
	Author string
	// Text can contain line breaks.
	Text string
}

// Opinions returns the opinions that are not empty, always in the same order.
//
// The sources are Martin Kleppmann's "How to do distributed locking"
// (https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html) and his
// "Designing Data-Intensive Applications", Salvatore Sanfilippo's "Is Redlock safe?"
// (http://antirez.com/news/101), and the documentation of Redis, above all its page on
// locks as it is today
// (https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/).
func (t Narrative) Opinions() []Opinion {
	var opinions []Opinion
	for _, v := range []Opinion{
		{"Kleppmann", t.Kleppmann},
		{"Sanfilippo", t.Sanfilippo},
		{"redis.io", t.Redis},
	} {
		if v.Text != "" {
			opinions = append(opinions, v)
		}
	}
	return opinions
}
