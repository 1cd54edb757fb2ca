package trace

// SubjectSessions is the subject of the events about clusters and their sessions.
const SubjectSessions = subjectSessions
