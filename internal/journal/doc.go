// Package journal keeps the latest lines of the log in memory, for those who look at
// redlockd and not at its log: the status page.
//
// A [Journal] is a sink of the process's logger ([New]). It gets every line at level Info
// or above, whatever level the log itself has, and keeps the latest ones ([Journal.Latest]).
// How much it keeps is bounded, in lines and in bytes for each. It is no second place
// where events are reported: what is not a line of the log is not here either.
package journal
