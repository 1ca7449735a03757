package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"path"
	"slices"
	"time"
)

// file is one file of an archive.
type file struct {
	name string
	text []byte
	mode int64
}

// pack is a tar.gz of the files in one folder. It depends on nothing but its
// arguments and the release of Go.
func pack(folder string, files []file, when time.Time) ([]byte, error) {
	files = slices.SortedFunc(slices.Values(files), func(a, b file) int { return cmp.Compare(a.name, b.name) })
	var packed bytes.Buffer
	zip, err := gzip.NewWriterLevel(&packed, gzip.BestCompression) // bears no name and no time
	if err != nil {
		return nil, err
	}
	out := tar.NewWriter(zip)
	for _, f := range files {
		header := &tar.Header{
			Name: path.Join(folder, f.name), Mode: f.mode, Size: int64(len(f.text)),
			ModTime: when, Uname: "root", Gname: "root", Format: tar.FormatUSTAR,
		}
		if err := out.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("pack %s: %w", f.name, err)
		}
		if _, err := out.Write(f.text); err != nil {
			return nil, fmt.Errorf("pack %s: %w", f.name, err)
		}
	}
	// The ends are written first, because the bytes are not whole without them.
	err = errors.Join(out.Close(), zip.Close())
	return packed.Bytes(), err
}
