package postgres

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/locksim/locksim/servers/postgres/internal/sql"
)

// defaultSettings are the settings of a new session, by their names in lower case.
var defaultSettings = map[string]string{
	"lock_timeout": "0", "statement_timeout": "0", "idle_in_transaction_session_timeout": "0", "idle_session_timeout": "0",
	"application_name": "", "client_encoding": "UTF8", "timezone": "UTC", "datestyle": "ISO, MDY", "intervalstyle": "postgres",
	"standard_conforming_strings": "on", "extra_float_digits": "1", "search_path": "\"$user\", public", "synchronous_commit": "on",
	"default_transaction_isolation": "read committed", "transaction_isolation": "read committed", "client_min_messages": "notice",
	"server_version": release, "server_encoding": "UTF8", "integer_datetimes": "on", "is_superuser": "off", "in_hot_standby": "off",
	"default_transaction_read_only": "off", "transaction_read_only": "off", "session_authorization": "", "jit": "on",
}

// fixedSettings are settings that a session cannot change. Only the server or an
// administrator can.
var fixedSettings = []string{"server_version", "server_encoding", "integer_datetimes", "is_superuser", "in_hot_standby", "session_authorization"}

// release is the PostgreSQL release that the server imitates.
const release = "15.18"

// durationSettings are the settings whose values are lengths of time, in milliseconds if
// they have no unit.
var durationSettings = []string{"lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout", "idle_session_timeout"}

// messageLevels are the values of client_min_messages.
var messageLevels = []string{"debug5", "debug4", "debug3", "debug2", "debug1", "log", "notice", "warning", "error"}

// spellings are PostgreSQL's spellings of the settings whose names are not in lower case.
var spellings = map[string]string{"datestyle": "DateStyle", "intervalstyle": "IntervalStyle", "timezone": "TimeZone"}

// set executes SET. The new value lasts until the session ends, or until the transaction is
// aborted. SET LOCAL lasts until the transaction ends.
func (b *backend) set(stmt *sql.Set) {
	previous := b.show(stmt.Name)
	raiseUnsupportedIf(slices.Contains(fixedSettings, stmt.Name), "SET of %s", stmt.Name)
	value := stmt.Value
	if stmt.Default {
		value = b.initialSettings[stmt.Name]
	}
	value = parseSetting(b.settings, stmt.Name, value)
	t := b.tx
	if stmt.Local {
		if !b.inBlock {
			b.sendNotice("WARNING", "25P01", "SET LOCAL can only be used in transaction blocks")
			return
		}
		if _, wasSaved := t.oldLocalSettings[stmt.Name]; !wasSaved {
			t.oldLocalSettings[stmt.Name] = previous
		}
	} else {
		if _, wasSaved := t.oldSettings[stmt.Name]; !wasSaved {
			t.oldSettings[stmt.Name] = previous
		}
		delete(t.oldLocalSettings, stmt.Name)
	}
	b.settings[stmt.Name] = value
}

// unrecognized returns the error for a setting that this server does not know. A real
// server may know it.
func unrecognized(name string) error {
	return &sql.Error{Code: unknownObject, Message: "unrecognized configuration parameter \"" + name + "\"", MayBeValid: true}
}

// applyStartup applies the settings in a startup message to the settings of a session.
// check raises an error for a setting that is not allowed there.
func applyStartup(m *pgproto3.StartupMessage, session map[string]string, check func(name string)) {
	raiseIf(m.Parameters["user"] == "", "28000", "no PostgreSQL user name specified in startup packet")
	for _, name := range slices.Sorted(maps.Keys(m.Parameters)) {
		switch name {
		case "user", "database":
			continue
		case "replication":
			if on, ok := parseBool(strings.ToLower(m.Parameters[name])); on || !ok {
				raise(unsupported("the protocol of replication"))
			}
			continue
		case "options":
			raise(unsupported("options in the startup packet"))
		}
		name, text := strings.ToLower(name), m.Parameters[name]
		check(name)
		session[name] = parseSetting(session, name, text)
	}
	session["session_authorization"] = m.Parameters["user"]
}

// checkKnown raises an error if there is no setting with this name.
func checkKnown(name string) {
	if _, is := defaultSettings[name]; !is {
		raise(unrecognized(name))
	}
}

// parseSetting returns the value of a session setting in the server's spelling. It raises
// an error if the setting does not accept the value.
func parseSetting(session map[string]string, name, value string) string {
	if slices.Contains(durationSettings, name) {
		d, ok := parseDuration(value)
		switch {
		case !ok:
			raise(newError(badParameterValue, "invalid value for parameter \"%s\": \"%s\"", name, value))
		case d < 0 || d > math.MaxInt32*time.Millisecond:
			raise(newError(badParameterValue, "%d ms is outside the valid range for parameter \"%s\" (0 .. %d)", d.Milliseconds(), name, math.MaxInt32))
		}
		return formatDuration(d)
	}
	word := strings.ToLower(value)
	switch digits, err := strconv.Atoi(value); {
	case name == "application_name": // any text
		return value
	case name == "extra_float_digits" && err == nil && digits >= -15 && digits <= 3:
		return value
	case name == "client_min_messages" && slices.Contains(messageLevels, word):
		return word
	case name == "jit":
		on, ok := parseBool(word)
		raiseIf(!ok, badParameterValue, "parameter \"jit\" requires a Boolean value")
		return map[bool]string{true: "on", false: "off"}[on]
	case name == "extra_float_digits", name == "client_min_messages":
	case strings.EqualFold(value, session[name]), strings.EqualFold(value, defaultSettings[name]):
		return session[name]
	}
	panic(raisedError{unsupported("%s = %s", name, value)})
}

// show returns the value of a setting, for SHOW.
func (b *backend) show(name string) string {
	value, known := b.settings[name]
	if !known {
		raise(unrecognized(name))
	}
	return value
}

// duration returns the value of a setting that is a length of time; 0 means no limit.
func (b *backend) duration(name string) time.Duration {
	d, _ := parseDuration(b.settings[name])
	return d
}

// settingUnits are the units of settings, the greatest first.
var settingUnits = []struct {
	name string
	time.Duration
}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"min", time.Minute}, {"s", time.Second}, {"ms", time.Millisecond}}

// parseDuration parses a length of time: a number of milliseconds, or a number with a unit.
// It returns false if text is neither.
func parseDuration(text string) (time.Duration, bool) {
	text = strings.TrimSpace(text)
	unit := time.Millisecond
	number := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz")
	if word := text[len(number):]; word != "" {
		unit = 0
		for _, u := range settingUnits {
			if u.name == word {
				unit = u.Duration
			}
		}
	}
	f, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || unit == 0 || !(math.Abs(f)*float64(unit) < math.MaxInt64/2) {
		return 0, false
	}
	return time.Duration(f * float64(unit)).Round(time.Millisecond), true
}

// formatDuration returns d as a whole number of the greatest unit that allows it.
func formatDuration(d time.Duration) string {
	for _, u := range settingUnits {
		if d > 0 && d%u.Duration == 0 {
			return strconv.FormatInt(int64(d/u.Duration), 10) + u.name
		}
	}
	return "0"
}
