package main

import (
	"fmt"
	"os"
	"strings"
)

// writeReport writes docs/clients.md. elsewhere is what was run by hand, in
// Markdown.
func writeReport(file, elsewhere string, rows []row, meanings, standIns []users) error {
	var b strings.Builder
	b.WriteString(`# Lock clients

Written by ` + "`make clients`" + `; do not edit. Each library is run as it is packaged,
against one redis-server and against redlockd over five masters: once with all
masters well, and once with two of them dead. *ok*: every step gave the same
result on both. *missing*: the library could not be installed here, which says
nothing about redlockd. [integration/clients](../integration/clients) has the
programs.

`)
	writeTable(&b, rows, false)
	b.WriteString("\n" + elsewhere)
	b.WriteString(`
## Stand-ins

These stand in for libraries that could not be installed, and for patterns that
are not a library. Each sends the same commands and scripts, in a wording of our
own, in every state of its keys.
`)
	writeTable(&b, rows, true)
	writeRefused(&b, rows)
	writeNotes(&b, rows)
	writeDifferences(&b, rows)
	writeMissing(&b, rows)
	writeMeanings(&b, meanings, standIns)
	return os.WriteFile(file, []byte(b.String()), 0o644)
}

func writeTable(b *strings.Builder, rows []row, standIns bool) {
	b.WriteString("\n| language | library | version | all well | two of five dead |\n|---|---|---|---|---|\n")
	for _, r := range rows {
		if r.standIn == standIns && r.refused == nil {
			fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", r.language, r.name, r.version, cell(r, 1), cell(r, 2))
		}
	}
}

// writeRefused writes what cannot be served, each with the reply that says so.
func writeRefused(b *strings.Builder, rows []row) {
	b.WriteString(`
## Not supported, and why

Each was run like the others: it works over one redis-server, and redlockd refuses it, with
all masters well and with two dead. Where no version is given, a program of ours sends what
such a library sends.

| language | library | version | redlockd answers | why |
|---|---|---|---|---|
`)
	for _, r := range rows {
		if r.refused == nil {
			continue
		}
		answer := string(r.status())
		if r.status() == refused {
			answer = code(r.refused.Error)
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", r.language, r.name, r.version, answer, r.refused.Why)
	}
}

func cell(r row, target int) string {
	switch s := r.status(); {
	case s == missing || s == broken:
		return string(s)
	case len(r.differences(target)) > 0:
		return string(differs)
	default:
		steps := len(r.runs[0].steps)
		if r.version != "" {
			steps-- // the version itself
		}
		return fmt.Sprintf("ok, %d steps", steps)
	}
}

func writeNotes(b *strings.Builder, rows []row) {
	var notes []string
	for _, r := range rows {
		note := r.note
		if r.max {
			note = strings.TrimSpace("Run with `no_expiry = \"max_ttl\"` and `max_ttl = \"5m\"`. " + note)
		}
		if note != "" {
			notes = append(notes, fmt.Sprintf("- %s: %s\n", r.name, note))
		}
	}
	if len(notes) > 0 {
		b.WriteString("\n## Notes\n\n" + strings.Join(notes, ""))
	}
}

func writeDifferences(b *strings.Builder, rows []row) {
	b.WriteString("\n## What differs\n\n")
	none := true
	for _, r := range rows {
		if s := r.status(); s == broken {
			none = false
			fmt.Fprintf(b, "- %s fails against Redis itself: %s\n", r.name, code(r.broken()))
		} else if s != differs {
			continue
		}
		for _, d := range r.allDifferences() {
			none = false
			fmt.Fprintf(b, "- %s, %s, step *%s*: Redis %s, redlockd %s\n", r.name, d.where, d.step, code(d.want), code(d.got))
		}
	}
	if none {
		b.WriteString("Nothing.\n")
	}
}

func writeMissing(b *strings.Builder, rows []row) {
	header := "\n## Missing here\n\n"
	for _, r := range rows {
		if r.missing != "" {
			fmt.Fprintf(b, "%s- %s: %s\n", header, r.name, r.missing)
			header = ""
		}
	}
}

func writeMeanings(b *strings.Builder, meanings, standIns []users) {
	if len(meanings) > 0 {
		b.WriteString(`
## Scripts seen

Reply and effect of each script that the libraries send, but for those that use
JSON. Each script was run on a Redis of its own, in every state of its key. A dash
means: the same as in the column to the left.
`)
		writeMeaningTables(b, meanings)
	}
	if len(standIns) > 0 {
		b.WriteString("\n## Scripts of the stand-ins\n")
		writeMeaningTables(b, standIns)
	}
}

// writeMeaningTables writes what scripts do to one lock, and then what others
// do to several at once.
func writeMeaningTables(b *strings.Builder, meanings []users) {
	header := "\n| means | key absent | holds the token | token, no TTL | another token | keys | texts | sent by |\n|---|---|---|---|---|---|---|---|\n"
	for _, m := range meanings {
		if m.lacking != "" {
			continue
		}
		forever := m.forever
		if forever == m.equal {
			forever = "-"
		}
		fmt.Fprintf(b, "%s| %s | %s | %s | %s | %s | %d | %s | %s |\n", header, m.does(), bar(m.absent), bar(m.equal), bar(forever),
			bar(m.differ), m.keys, m.texts(), strings.Join(m.who, "; "))
		header = ""
	}
	header = "\nOf several keys all or none:\n\n| means | all absent | all hold the token | the second absent | the second another's | all another's | keys | texts | sent by |\n|---|---|---|---|---|---|---|---|---|\n"
	for _, m := range meanings {
		if m.lacking == "" {
			continue
		}
		fmt.Fprintf(b, "%s| %s | %s | %s | %s | %s | %s | %d | %s | %s |\n", header, m.does(), bar(m.absent), bar(m.equal), bar(m.lacking),
			bar(m.partly), bar(m.differ), m.keys, m.texts(), strings.Join(m.who, "; "))
		header = ""
	}
}

// texts are the beginnings of the SHA1s.
func (u users) texts() string {
	var shas []string
	for _, s := range u.shas {
		shas = append(shas, s[:8])
	}
	return strings.Join(shas, " ")
}

func code(s string) string { return "`" + strings.ReplaceAll(short(s, 300), "`", "'") + "`" }

func bar(s string) string { return strings.ReplaceAll(s, "|", "\\|") }
