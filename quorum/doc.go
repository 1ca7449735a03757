// Package quorum: see doc.go to come.
package quorum
