package trace

// SubjectSessions is the subject of the kinds of events that a cluster's members write.
const SubjectSessions = subjectSessions
