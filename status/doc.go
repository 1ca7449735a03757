// Package status is the page for people on the address for operators: one
// page that shows, live, how the masters are and where the locks are.
//
// A [Page] takes a sample once a second (sample.go), keeps the last minutes of
// rates for the chart, and makes a snapshot for those who look: snapshot.go, with
// the masters (masters.go), when locks can be taken again (outlook.go), and the
// latest lines of the log (events.go, from package journal). They get it by
// server-sent events (stream.go); how many may look is bounded, and whoever reads
// too slowly is dropped. Who asks for one lock gets it from the masters (lock.go).
//
// The page itself (page.go) is in page/: HTML, CSS and JavaScript as they are written,
// without a library or a build step. Keys, names and addresses are chosen by
// clients, who may be hostile: they leave here as JSON, become text nodes
// there and nothing else (text.go), and the Content-Security-Policy lets no script run
// but the page's own. Tokens are not even known here.
//
// Who may look is decided by the caller, who asks for the password.
package status
