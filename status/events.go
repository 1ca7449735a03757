package status

import "github.com/redlockd/redlockd/internal/journal"

// maxEvents bounds the list of what happened lately.
const maxEvents = 40

// EventRow is a line of the log.
type EventRow struct {
	At     int64      `json:"at"`
	Level  string     `json:"level"`
	Text   string     `json:"text"`
	Fields []EventKey `json:"fields"`
}

// EventKey is a variable part of a line of the log.
type EventKey struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// eventRows are lines of the log, for people.
func eventRows(lines []journal.Line) []EventRow {
	rows := make([]EventRow, len(lines))
	for i, line := range lines {
		rows[i] = EventRow{At: line.Time.UnixMilli(), Level: line.Level, Text: line.Text, Fields: make([]EventKey, len(line.Fields))}
		for k, f := range line.Fields {
			rows[i].Fields[k] = EventKey{Key: f.Key, Value: shownUpTo(maxReason, f.Value)}
		}
	}
	return rows
}
