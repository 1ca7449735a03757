// Package proxy: see doc.go to come.
package proxy
