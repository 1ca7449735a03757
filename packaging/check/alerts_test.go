package check

import (
	"slices"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/common/promslog"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
)

// now is when the alerts are looked at.
var now = time.Unix(1_800_000_000, 0)

// sample is a series that was from until to in the two hours before now.
type sample struct {
	name     string
	labels   []string
	from, to float64
}

// well is what redlockd over five masters shows when nothing is wrong.
var well = []sample{
	{"up", []string{"job", "redlockd", "instance", "r1"}, 1, 1},
	{"up", []string{"job", "redlockd", "instance", "r2"}, 1, 1},
	{"redlockd_masters_voting", nil, 5, 5},
	{"redlockd_quorum", nil, 3, 3},
	{"redlockd_ready", nil, 1, 1},
	{"redlockd_sessions_closed_total", []string{"limit", "output"}, 0, 0},
	{"redlockd_config_last_reload_successful", nil, 1, 1},
	{"redlockd_master_state", []string{"master", "a", "state", "voting"}, 1, 1},
	{"redlockd_master_state", []string{"master", "a", "state", "down"}, 0, 0},
	{"redlockd_without_majority_total", nil, 7, 8},
	{"redlockd_late_grants_total", nil, 1, 1},
	{"redlockd_master_errors_total", nil, 0, 1},
	{"redlockd_lost_connections_total", nil, 2, 5},
	{"redlockd_quarantines_total", nil, 2, 4},
	{"redlockd_certificate_expiry_timestamp_seconds", []string{"block", "listen"}, 1_800_000_000 + 60*86400, 1_800_000_000 + 60*86400},
}

// with is well with these in the place of those of the same name and labels.
func with(changed ...sample) []sample {
	all := slices.Clone(well)
	for _, c := range changed {
		for i := range all {
			if all[i].name == c.name && slices.Equal(all[i].labels, c.labels) {
				all[i] = c
			}
		}
	}
	return all
}

// TestAlerts: the file is right, and each alert fires for what it is for and
// for nothing else. How long it waits (for) is left out.
func TestAlerts(t *testing.T) {
	groups, errs := rulefmt.Parse(read(t, root+"/docs/alerts.yml"), false, model.LegacyValidation, parser.NewParser(parser.Options{}), promslog.NewNopLogger())
	for _, err := range errs {
		t.Fatal(err)
	}
	untested := map[string]bool{}
	for _, group := range groups.Groups {
		for _, rule := range group.Rules {
			untested[rule.Alert] = true
		}
	}
	const day = 86400
	for _, test := range []struct {
		name string
		data []sample
		want []string
	}{
		{"all is well", well, nil},
		{"one redlockd is gone", with(sample{"up", []string{"job", "redlockd", "instance", "r1"}, 0, 0}), []string{"RedlockdDown"}},
		{"nothing is scraped", nil, []string{"RedlockdAllDown"}},
		{"three masters are gone", with(sample{"redlockd_masters_voting", nil, 2, 2}, sample{"redlockd_ready", nil, 0, 0}), []string{"RedlockdNoQuorum"}},
		{"two masters are gone", with(sample{"redlockd_masters_voting", nil, 3, 3},
			sample{"redlockd_master_state", []string{"master", "a", "state", "voting"}, 0, 0}),
			[]string{"RedlockdNoSpareMaster", "RedlockdMasterNotVoting"}},
		{"masters are slow", with(sample{"redlockd_without_majority_total", nil, 0, 7200}), []string{"RedlockdUndecided"}},
		{"a master flaps", with(sample{"redlockd_lost_connections_total", nil, 0, 60}), []string{"RedlockdMastersUnsteady"}},
		{"a clock steps", with(sample{"redlockd_quarantines_total", nil, 0, 20}), []string{"RedlockdMastersUnsteady"}},
		{"pauses", with(sample{"redlockd_late_grants_total", nil, 0, 100}), []string{"RedlockdLateGrants"}},
		{"a right is missing", with(sample{"redlockd_master_errors_total", nil, 0, 7200}), []string{"RedlockdMasterErrors"}},
		{"a session is closed", with(sample{"redlockd_sessions_closed_total", []string{"limit", "output"}, 0, 8}), []string{"RedlockdSessionsClosed"}},
		{"a file is refused", with(sample{"redlockd_config_last_reload_successful", nil, 0, 0}), []string{"RedlockdReloadFailed"}},
		{"a certificate ends", with(sample{"redlockd_certificate_expiry_timestamp_seconds", []string{"block", "listen"},
			1_800_000_000 + 13*day, 1_800_000_000 + 13*day}), []string{"RedlockdCertificateEnds"}},
	} {
		var got []string
		for _, group := range groups.Groups {
			for _, rule := range group.Rules {
				if fires(t, rule.Expr, test.data) {
					got = append(got, rule.Alert)
				}
			}
		}
		for _, name := range test.want {
			delete(untested, name)
			if !slices.Contains(got, name) {
				t.Errorf("%s: %s does not fire", test.name, name)
			}
		}
		// All of them being down, the one that is down is told as well.
		if len(got) != len(test.want) {
			t.Errorf("%s: %q fire, want %q", test.name, got, test.want)
		}
	}
	for name := range untested {
		t.Errorf("nothing here makes %s fire", name)
	}
}

// fires reports whether the expression has a result now.
func fires(t *testing.T, expr string, data []sample) bool {
	t.Helper()
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1e6, Timeout: time.Minute, LookbackDelta: 5 * time.Minute,
		Parser: parser.NewParser(parser.Options{})})
	defer engine.Close()
	query, err := engine.NewInstantQuery(t.Context(), queryable(data), nil, expr, now)
	if err != nil {
		t.Fatalf("%s: %v", expr, err)
	}
	defer query.Close()
	result, err := query.Exec(t.Context()).Vector()
	if err != nil {
		t.Fatalf("%s: %v", expr, err)
	}
	return len(result) > 0
}

// queryable serves a value a minute of each of them.
func queryable(data []sample) storage.Queryable {
	find := func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
		var found []storage.Series
		for _, s := range data {
			set := labels.FromStrings(append([]string{labels.MetricName, s.name}, s.labels...)...)
			if slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(set.Get(m.Name)) }) {
				continue
			}
			found = append(found, s.series())
		}
		return &seriesSet{series: found}
	}
	return &storage.MockQueryable{MockQuerier: &storage.MockQuerier{SelectMockFunction: find}}
}

// series goes from its first to its last value in two hours.
func (s sample) series() storage.Series {
	const minutes = 120
	var points []chunks.Sample
	for i := range minutes + 1 {
		points = append(points, point{
			at:    now.Add(time.Duration(i-minutes) * time.Minute).UnixMilli(),
			value: s.from + (s.to-s.from)*float64(i)/minutes,
		})
	}
	return storage.NewListSeries(labels.FromStrings(append([]string{labels.MetricName, s.name}, s.labels...)...), points)
}

// point is a chunks.Sample.
type point struct {
	at    int64
	value float64
}

func (p point) T() int64                      { return p.at }
func (p point) ST() int64                     { return 0 }
func (p point) F() float64                    { return p.value }
func (p point) H() *histogram.Histogram       { return nil }
func (p point) FH() *histogram.FloatHistogram { return nil }
func (p point) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (p point) Copy() chunks.Sample           { return p }

// seriesSet is a storage.SeriesSet of what is there.
type seriesSet struct {
	series []storage.Series
	next   int
}

func (s *seriesSet) Next() bool                        { s.next++; return s.next <= len(s.series) }
func (s *seriesSet) At() storage.Series                { return s.series[s.next-1] }
func (s *seriesSet) Err() error                        { return nil }
func (s *seriesSet) Warnings() annotations.Annotations { return nil }
