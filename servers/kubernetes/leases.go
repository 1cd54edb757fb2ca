package kubernetes

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// leases are the Leases of a server. The key of each is its namespace and name.
type leases struct {
	host    *sim.Host
	random  *rand.Rand // for UIDs
	version uint64     // the version of the latest change of any Lease
	stored  map[string]*storedLease
}

// A storedLease is a Lease, with the client that has acquired it.
type storedLease struct {
	*lease
	owner *trace.Actor
}

// key returns the key under which a Lease is stored and appears in the trace.
func key(namespace, name string) string { return namespace + "/" + name }

// create creates a Lease, as Store.Create of the registry does. It returns the Lease as it was
// stored, or the status of an error.
func (s *leases) create(namespace string, l *lease, by *trace.Actor) (*lease, *status) {
	if l.Metadata.Name == "" && l.Metadata.GenerateName != "" {
		s.host.Doubt(s.host.Node().Name + " was asked to choose the name of a Lease, which a real API server does and this one does not")
	}
	if bad := checkNamespace(namespace, l); bad != nil {
		return nil, bad
	}
	if all := l.validate(); all != nil {
		return nil, invalidStatus("Lease", l.Metadata.Name, all...)
	}
	if s.stored[key(namespace, l.Metadata.Name)] != nil {
		return nil, alreadyExists(l.Metadata.Name)
	}
	if v := l.Metadata.ResourceVersion; v != "" && v != "0" {
		return nil, &status{Code: http.StatusInternalServerError, Message: "resourceVersion should not be set on objects to be created"}
	}
	s.initialize(l, by)
	return l, nil
}

// initialize sets the fields of a new Lease that only the server sets, and stores it.
func (s *leases) initialize(l *lease, by *trace.Actor) {
	created := s.host.Clock().Now().UTC().Format(time.RFC3339)
	l.Metadata.Created = &created
	var id [16]byte
	for i := range id {
		id[i] = byte(s.random.Uint32())
	}
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	l.Metadata.UID = fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
	s.store(l, by)
}

// update replaces a Lease, as Store.Update of the registry does. It succeeds only if the request
// contains the version that is stored. If the Lease does not exist, update creates it, unless the
// request names a UID. It returns the stored Lease and the HTTP status code, or the status of an
// error.
func (s *leases) update(namespace, name string, l *lease, by *trace.Actor) (*lease, int, *status) {
	if bad := checkNamespace(namespace, l); bad != nil {
		return nil, 0, bad
	}
	switch l.Metadata.Name {
	case name:
	case "":
		return nil, 0, badRequest("name must be provided")
	default:
		return nil, 0, badRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", l.Metadata.Name, name))
	}
	old := s.stored[key(namespace, name)]
	if wantedUID := l.Metadata.UID; wantedUID != "" && (old == nil || old.Metadata.UID != wantedUID) {
		currentUID := ""
		if old != nil {
			currentUID = old.Metadata.UID
		}
		return nil, 0, uidConflict(namespace, name, wantedUID, currentUID)
	}
	requestVersion, err := strconv.ParseUint(l.Metadata.ResourceVersion, 10, 64)
	if err != nil && l.Metadata.ResourceVersion != "" {
		return nil, 0, invalidStatus("Lease", name, cause{"FieldValueInvalid",
			fmt.Sprintf("Invalid value: %q: strconv.ParseUint: parsing %q: invalid syntax", l.Metadata.ResourceVersion, l.Metadata.ResourceVersion), "metadata.resourceVersion"})
	}
	switch {
	case old == nil:
	case requestVersion == 0:
		return nil, 0, invalidStatus(resource, name, cause{"FieldValueInvalid", "Invalid value: 0: must be specified for an update", "metadata.resourceVersion"})
	case l.Metadata.ResourceVersion != old.Metadata.ResourceVersion:
		return nil, 0, conflict(name, notLatestVersion)
	}
	if all := l.validate(); all != nil {
		return nil, 0, invalidStatus("Lease", name, all...)
	}
	if old == nil {
		s.initialize(l, by)
		return l, http.StatusCreated, nil
	}
	l.Metadata.UID, l.Metadata.Created = old.Metadata.UID, old.Metadata.Created
	s.store(l, by)
	return l, http.StatusOK, nil
}

// checkNamespace gives a Lease without a namespace that of the path of the request. It returns an
// error if the Lease names another namespace.
func checkNamespace(namespace string, l *lease) *status {
	if l.Metadata.Namespace == "" {
		l.Metadata.Namespace = namespace
	}
	if l.Metadata.Namespace != namespace {
		return badRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	return nil
}

// remove deletes a Lease, as Store.Delete of the registry does. The body of the request may contain
// preconditions, such as a version; remove deletes only a Lease that meets them.
func (s *leases) remove(namespace, name string, body []byte, by *trace.Actor) *status {
	var options struct {
		Preconditions struct{ UID, ResourceVersion *string }
		DryRun        []string
	}
	if len(body) > 0 {
		if err := json.Unmarshal(body, &options); err != nil {
			return badRequest(fmt.Sprintf("couldn't get version/kind; json parse error: %v", err))
		}
	}
	if len(options.DryRun) > 0 {
		s.host.Doubt("a client asked for a dry run of a deletion (dryRun), which a real API server supports and this one does not")
	}
	old := s.stored[key(namespace, name)]
	if old == nil {
		return notFound(name)
	}
	switch preconditions := options.Preconditions; {
	case preconditions.UID != nil && *preconditions.UID != old.Metadata.UID:
		return uidConflict(namespace, name, *preconditions.UID, old.Metadata.UID)
	case preconditions.ResourceVersion != nil && *preconditions.ResourceVersion != old.Metadata.ResourceVersion:
		return conflict(name, fmt.Sprintf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The object might have been modified",
			*preconditions.ResourceVersion, old.Metadata.ResourceVersion))
	case len(old.Metadata.Finalizers) > 0:
		s.host.Doubt("a Lease with finalizers was deleted, which a real API server would only mark")
	}
	s.version++
	delete(s.stored, key(namespace, name))
	s.recordChange(key(namespace, name), old, nil, by)
	done := newDetails(name)
	done.UID = old.Metadata.UID
	return &status{Code: http.StatusOK, Details: done}
}

// store stores a new version of a Lease, and records the change.
func (s *leases) store(l *lease, by *trace.Actor) {
	s.version++
	l.Metadata.ResourceVersion = strconv.FormatUint(s.version, 10)
	at := key(l.Metadata.Namespace, l.Metadata.Name)
	old, current := s.stored[at], &storedLease{lease: l}
	s.stored[at] = current
	s.host.ChargeText(len(l.holder()))
	s.recordChange(at, old, current, by)
}
