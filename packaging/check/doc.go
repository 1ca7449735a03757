// Package check holds no program: its tests look at what packaging/ has and
// docs/alerts.yml, as far as that goes without Docker, Kubernetes, systemd or
// Prometheus. Each format is read by the library of its own tool: Kubernetes'
// types, compose-go, BuildKit's Dockerfile frontend, systemd-analyze, PromQL's
// engine. Every configuration that is handed out passes `redlockd -check`, and
// the compose file's commands are carried out as processes of this host.
//
// It is a module of its own, because redlockd should not depend on any of
// these.
//
// With -containers (make containers) the image is built and run, and the compose file too, as
// docs/containers.md says.
//
// Not checked: that the images which are named exist, unless they can be pulled, and what a
// cluster's own admission rules say.
package check
