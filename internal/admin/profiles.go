package admin

import (
	"net/http"
	"net/http/pprof"
)

// profiles serves Go's profiles behind the same password as the metrics. A profile over
// some seconds must end within writeTime: ?seconds=20.
func profiles(mux *http.ServeMux, lock *basicAuth) {
	for path, serve := range map[string]http.HandlerFunc{
		"/debug/pprof/":        pprof.Index,
		"/debug/pprof/cmdline": pprof.Cmdline,
		"/debug/pprof/profile": pprof.Profile,
		"/debug/pprof/symbol":  pprof.Symbol,
		"/debug/pprof/trace":   pprof.Trace,
	} {
		mux.Handle("GET "+path, lock.require(serve))
	}
}
