package kubernetes

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/lazy"
)

// A lease is an object of the kind Lease, with the fields that matter for leader election.
type lease struct {
	Kind     string   `json:"kind"`
	Version  string   `json:"apiVersion"`
	Metadata metadata `json:"metadata"`
	Spec     spec     `json:"spec"`
}

// metadata is what every object of Kubernetes has: its name, its version and so on.
type metadata struct {
	Name            string            `json:"name,omitempty"`
	GenerateName    string            `json:"generateName,omitempty"`
	Namespace       string            `json:"namespace,omitempty"`
	UID             string            `json:"uid,omitempty"`
	ResourceVersion string            `json:"resourceVersion,omitempty"`
	Created         *string           `json:"creationTimestamp,omitempty"`
	Labels          map[string]string `json:"labels,omitempty"`
	Annotations     map[string]string `json:"annotations,omitempty"`
	Finalizers      []string          `json:"finalizers,omitempty"`
	Owners          []json.RawMessage `json:"ownerReferences,omitempty"`
}

// A spec is the part of a Lease that leader election writes: who holds it, how many seconds
// the holder keeps it without a renewal, when it was acquired and renewed, and how often
// the holder has changed.
type spec struct {
	Holder      *string `json:"holderIdentity,omitempty"`
	Seconds     *int32  `json:"leaseDurationSeconds,omitempty"`
	Acquired    *moment `json:"acquireTime,omitempty"`
	Renewed     *moment `json:"renewTime,omitempty"`
	Transitions *int32  `json:"leaseTransitions,omitempty"`
	Strategy    *string `json:"strategy,omitempty"`
	Preferred   *string `json:"preferredHolder,omitempty"`
}

// holder returns the identity of the holder, or "" if nobody holds the lease. l may be nil.
func (l *lease) holder() string {
	if l == nil || l.Spec.Holder == nil {
		return ""
	}
	return *l.Spec.Holder
}

// duration returns how long the holder keeps the lease without a renewal.
func (l *lease) duration() time.Duration {
	if l.Spec.Seconds == nil {
		return 0
	}
	return time.Duration(*l.Spec.Seconds) * time.Second
}

// A moment is a time in the format of metav1.MicroTime.
type moment struct{ time.Time }

// microTimeFormat is the format of a moment in JSON, with microseconds.
const microTimeFormat = "2006-01-02T15:04:05.000000Z07:00"

// MarshalJSON implements [json.Marshaler]. It writes UTC.
func (m moment) MarshalJSON() ([]byte, error) {
	if m.IsZero() {
		return []byte("null"), nil
	}
	return json.Marshal(m.UTC().Format(microTimeFormat))
}

// UnmarshalJSON implements [json.Unmarshaler].
func (m *moment) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		m.Time = time.Time{}
		return nil
	}
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return err
	}
	m.Time = t.Truncate(time.Microsecond)
	return nil
}

// parseLease parses the Lease in the body of a request. If the body is not valid JSON, or contains
// another kind of object, parseLease returns the status that answers the request.
func parseLease(b []byte) (*lease, *status) {
	l := &lease{}
	if err := json.Unmarshal(b, l); err != nil {
		return nil, badRequest(fmt.Sprintf("Lease in version %q cannot be handled as a Lease: %v", version, err))
	}
	const groupVersion = group + "/" + version
	switch {
	case l.Version != "" && l.Version != groupVersion:
		return nil, badRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", l.Version, groupVersion))
	case l.Kind != "" && l.Kind != "Lease":
		return nil, badRequest(fmt.Sprintf("%s in version %q cannot be handled as a Lease: no kind %q is registered for version %q", l.Kind, version, l.Kind, groupVersion))
	}
	l.Kind, l.Version = "Lease", groupVersion
	return l, nil
}

// validate returns the invalid fields of a lease, or nil. It checks what ValidateLease checks in
// pkg/apis/coordination/validation/validation.go of k8s.io/kubernetes.
func (l *lease) validate() (all []cause) {
	addCause := func(field string, value any, why string) {
		all = append(all, cause{"FieldValueInvalid", fmt.Sprintf("Invalid value: %v: %s", value, why), field})
	}
	if name := l.Metadata.Name; !isSubdomain(name) {
		addCause("metadata.name", fmt.Sprintf("%q", name), "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "+
			"and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '"+label+`(\.`+label+")*')")
	}
	if s := l.Spec.Seconds; s != nil && *s <= 0 {
		addCause("spec.leaseDurationSeconds", *s, "must be greater than 0")
	}
	if n := l.Spec.Transitions; n != nil && *n < 0 {
		addCause("spec.leaseTransitions", *n, "must be greater than or equal to 0")
	}
	return all
}

// label is the regular expression of one part of a name.
const label = `[a-z0-9]([-a-z0-9]*[a-z0-9])?`

// labels matches a text that is one label.
var labels = lazy.Regexp("^" + label + "$")

// isSubdomain reports whether a word is a valid name of an object: labels that are
// separated by dots.
func isSubdomain(name string) bool {
	return len(name) <= 253 && !slices.ContainsFunc(strings.Split(name, "."), func(l string) bool { return !labels().MatchString(l) })
}

// isLabel reports whether a word is a valid name of a namespace.
func isLabel(name string) bool { return len(name) <= 63 && labels().MatchString(name) }
