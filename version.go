package main

import (
	"runtime/debug"
	"strings"
)

// version is set by the linker (see the Makefile); empty in other builds.
var version string

// shortVersion returns the version for INFO and the logs.
func shortVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

// versionText returns the version with what it was built from.
func versionText() string {
	words := []string{shortVersion()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return words[0]
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			words = append(words, "revision "+s.Value)
		case s.Key == "vcs.modified" && s.Value == "true":
			words = append(words, "with local changes")
		}
	}
	return strings.Join(append(words, info.GoVersion), ", ")
}
