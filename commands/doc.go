// Package commands: see doc.go to come.
package commands
