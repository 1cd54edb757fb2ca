package scenarios

// An Opinion is what an author who wrote about such locks says about a scenario. It
// rephrases the author's text. It never adds conclusions that the author did not write. An
// author who wrote nothing about a case has no Opinion.
type Opinion struct {
	// Author is a short name, as for a table.
	Author string
	// Text can have several lines.
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
