package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/go-analyze/charts"
)

// bars is a chart of groups of bars.
type bars struct {
	title, subtitle string
	groups, series  []string
	colours         []charts.Color
	values          [][]float64 // by series, then by group
}

// The colours are apart from each other for the colour-blind as well, and a
// chart has a ground of its own, so that it is readable on light and on dark
// pages.
var (
	ground = charts.ColorFromHex("#fbfbf9")
	ink    = charts.ColorFromHex("#333333")
	grey   = charts.ColorFromHex("#9aa5b1")
	forest = charts.ColorFromHex("#0b6e4f")
	green  = charts.ColorFromHex("#35b07f")
	orange = charts.ColorFromHex("#d98324")
	sand   = charts.ColorFromHex("#ecc48d")
)

// charts draws workloads a and d, if they were run.
func (b *bench) charts(dir string) error {
	for _, c := range []struct {
		workload, file string
		draw           func() bars
	}{{"a", "cycles.svg", b.cyclesChart}, {"d", "faults.svg", b.faultsChart}} {
		for _, r := range b.table.Rows {
			if r.Workload == c.workload {
				if err := c.draw().write(filepath.Join(dir, c.file)); err != nil {
					return err
				}
				break
			}
		}
	}
	return nil
}

// cyclesChart shows the throughput of each contender by the number of clients.
func (b *bench) cyclesChart() bars {
	c := bars{
		title:    "Locks taken and released per second",
		subtitle: fmt.Sprintf("each client on a key of its own; clients and servers share %d cores; more is better", runtime.NumCPU()),
		series:   []string{direct, throughPipeline, through, redsyncFive},
		colours:  []charts.Color{grey, forest, green, orange},
	}
	for _, n := range clientCounts {
		c.groups = append(c.groups, clientsText(n))
	}
	b.fill(&c, "a", perSecond)
	return c
}

// faultsChart shows what one bad master costs the slowest clients.
func (b *bench) faultsChart() bars {
	c := bars{
		title:    "Milliseconds to take and release a lock, 99th percentile",
		subtitle: "16 clients, one of five masters dead, frozen or slow; less is better",
		groups:   faultConditions,
		series:   []string{through, redsyncFast, redsyncFive},
		colours:  []charts.Color{green, sand, orange},
	}
	b.fill(&c, "d", p99)
	return c
}

func (b *bench) fill(c *bars, workload, name string) {
	for _, contender := range c.series {
		var values []float64
		for _, group := range c.groups {
			v := 0.0
			if f := b.figure(workload, group, contender, name); f != nil {
				v = f.Median()
			}
			values = append(values, v)
		}
		c.values = append(c.values, values)
	}
}

func (c bars) write(path string) error {
	const width, height, margin, head = 900, 420, 24, 64
	p := charts.NewPainter(charts.PainterOptions{OutputFormat: charts.ChartOutputSVG, Width: width, Height: height})
	p.FilledRect(0, 0, width, height, ground, ground, 0)
	p.Text(c.title, margin, 34, 0, charts.FontStyle{FontSize: 15, FontColor: ink})
	p.Text(c.subtitle, margin, 56, 0, charts.FontStyle{FontSize: 10.5, FontColor: ink})

	opt := charts.NewBarChartOptionWithData(c.values)
	opt.Theme = charts.GetTheme(charts.ThemeLight).WithSeriesColors(c.colours).WithBackgroundColor(ground).
		WithXAxisTextColor(ink).WithLegendTextColor(ink).WithLabelTextColor(ink)
	opt.Padding = charts.NewBox(margin, 12, margin, margin/2)
	opt.Legend = charts.LegendOption{SeriesNames: c.series, Offset: charts.OffsetStr{Left: charts.PositionLeft},
		FontStyle: charts.NewFontStyleWithSize(10.5)}
	opt.XAxis = charts.XAxisOption{Labels: c.groups, LabelFontStyle: charts.NewFontStyleWithSize(10.5)}
	opt.YAxis = []charts.YAxisOption{{Show: charts.Ptr(false)}} // each bar tells its figure
	for i := range opt.SeriesList {
		opt.SeriesList[i].Label = charts.SeriesLabel{Show: charts.Ptr(true), ValueFormatter: number,
			FontStyle: charts.NewFontStyleWithSize(9)}
	}
	if err := p.Child(charts.PainterBoxOption(charts.NewBox(0, head, width, height))).BarChart(opt); err != nil {
		return err
	}
	svg, err := p.Bytes()
	if err != nil {
		return err
	}
	return os.WriteFile(path, svg, 0o644)
}
