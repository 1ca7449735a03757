// Command release makes dist/: for each system one archive with a static
// redlockd and what belongs to it, and SHA256SUMS over them.
//
//	go run ./packaging/release -version v1.2.3 [-out dist]
//
// The same sources, version and Go give the same bytes, on any system and in
// any folder: the build has no paths, no cgo and no settings of the
// environment in it (build.go), and the archive has the files in a fixed order
// with one owner and one time (archive.go). So anybody can make an archive
// again and compare it.
//
// It is run from the root of the sources.
package main
