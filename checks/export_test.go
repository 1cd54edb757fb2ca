package checks

// Sentences has the sentences of reasons and measures, which internal/story writes. It is set by
// the external tests, since story imports this package.
var Sentences interface {
	Reason(Reason) string
	Measure(Measure) string
}

func english(r Reason) string { return Sentences.Reason(r) }
