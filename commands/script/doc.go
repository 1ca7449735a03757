// Package script: see doc.go to come.
package script
