package kubernetes

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/locksim/locksim/internal/http1"
)

// The API group, the version and the resource of Leases. qualified is their name in errors.
const (
	group     = "coordination.k8s.io"
	version   = "v1"
	resource  = "leases"
	qualified = resource + "." + group
)

// A status is an answer that contains no object, such as an error. It has the fields of
// metav1.Status that the server sets. The functions below make the statuses that
// k8s.io/apimachinery/pkg/api/errors makes.
type status struct {
	Kind     string   `json:"kind"`
	Version  string   `json:"apiVersion"`
	Metadata struct{} `json:"metadata"`
	Status   string   `json:"status"`
	Message  string   `json:"message,omitempty"`
	Reason   string   `json:"reason,omitempty"`
	Details  *details `json:"details,omitempty"`
	Code     int      `json:"code,omitempty"`
}

// details say which object a status is about, and which of its fields are invalid.
type details struct {
	Name   string  `json:"name,omitempty"`
	Group  string  `json:"group,omitempty"`
	Kind   string  `json:"kind,omitempty"`
	UID    string  `json:"uid,omitempty"`
	Causes []cause `json:"causes,omitempty"`
}

// A cause is an invalid field of an object.
type cause struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Field   string `json:"field"`
}

// newDetails returns the details of a status about one Lease.
func newDetails(name string) *details { return &details{Name: name, Group: group, Kind: resource} }

// leaseStatus returns a status about one Lease.
func leaseStatus(name string, code int, reason, format string, args ...any) *status {
	return &status{Code: code, Reason: reason, Details: newDetails(name), Message: fmt.Sprintf(format, args...)}
}

// notFound returns the status of a request for a Lease that does not exist.
func notFound(name string) *status {
	return leaseStatus(name, http.StatusNotFound, "NotFound", "%s %q not found", qualified, name)
}

// alreadyExists returns the status of a creation of a Lease that exists.
func alreadyExists(name string) *status {
	return leaseStatus(name, http.StatusConflict, "AlreadyExists", "%s %q already exists", qualified, name)
}

// conflict returns the status of a change whose preconditions are not met.
func conflict(name, why string) *status {
	return leaseStatus(name, http.StatusConflict, "Conflict", "Operation cannot be fulfilled on %s %q: %s", qualified, name, why)
}

// notLatestVersion is the text of the conflict when the request does not contain the latest
// version.
const notLatestVersion = "the object has been modified; please apply your changes to the latest version and try again"

// uidConflict returns the conflict when the request names the UID of another object, such
// as a deleted one with the same name.
func uidConflict(namespace, name, wantedUID, currentUID string) *status {
	return conflict(name, fmt.Sprintf("StorageError: invalid object, Code: 4, Key: /registry/%s/%s/%s, ResourceVersion: 0, "+
		"AdditionalErrorMsg: Precondition failed: UID in precondition: %s, UID in object meta: %s", resource, namespace, name, wantedUID, currentUID))
}

// badRequest returns the status of a malformed request.
func badRequest(why string) *status {
	return &status{Code: http.StatusBadRequest, Reason: "BadRequest", Message: why}
}

// invalidStatus returns the status of a request for an object with invalid fields.
func invalidStatus(kind, name string, causes ...cause) *status {
	s := &status{Code: http.StatusUnprocessableEntity, Reason: "Invalid", Details: &details{Name: name, Group: group, Kind: kind, Causes: causes}}
	list := ""
	for i, c := range causes {
		if i > 0 {
			list += ", "
		}
		list += c.Field + ": " + c.Message
	}
	if len(causes) > 1 {
		list = "[" + list + "]"
	}
	s.Message = fmt.Sprintf("%s.%s %q is invalid: %s", kind, group, name, list)
	return s
}

// genericStatus returns the status that the server sends for an HTTP status code if it has
// no specific text.
func genericStatus(code int) *status {
	s := &status{Code: code, Details: &details{}}
	switch code {
	case http.StatusMethodNotAllowed:
		s.Reason, s.Message = "MethodNotAllowed", "the server does not allow this method on the requested resource"
	case http.StatusUnsupportedMediaType:
		s.Reason, s.Message = "UnsupportedMediaType", "the body of the request was in an unknown format - accepted media types include: application/json"
	case http.StatusNotAcceptable:
		s.Reason, s.Message = "NotAcceptable", "only the following media types are accepted: application/json"
	default:
		s.Code, s.Reason, s.Message = http.StatusNotFound, "NotFound", "the server could not find the requested resource"
	}
	return s
}

// answer returns the HTTP answer that contains the status.
func (s status) answer() http1.Answer {
	s.Kind, s.Version, s.Status = "Status", "v1", "Success"
	code := s.Code
	if code >= http.StatusBadRequest {
		s.Status = "Failure"
	} else {
		s.Code = 0
	}
	text := fmt.Sprintf("%d %s", code, s.Reason)
	if s.Reason == "" {
		text = fmt.Sprintf("%d %s", code, http.StatusText(code))
	}
	return jsonAnswer(code, s, text)
}

// jsonAnswer returns an HTTP answer with a body in JSON. text describes it in the trace.
func jsonAnswer(code int, body any, text string) http1.Answer {
	b, err := json.Marshal(body)
	if err != nil {
		panic(err) // it consists of strings and numbers
	}
	return http1.Answer{Status: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: append(b, '\n'), Text: text}
}
