package checks

// Sentences renders reasons and measures as sentences, as package internal/story does. The
// external tests set it, because story imports this package.
var Sentences interface {
	Reason(Reason) string
	Measure(Measure) string
}

func sentence(r Reason) string { return Sentences.Reason(r) }
