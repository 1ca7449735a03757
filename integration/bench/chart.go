package main

import (
	"os"
	"path/filepath"

	"github.com/go-analyze/charts"
)

// charts draws what was measured of workloads a and d.
func (b *bench) charts(dir string) error {
	if b.table.row("a", clientsText(128), through) != nil {
		if err := writeChart(filepath.Join(dir, "cycles.svg"), b.cyclesChart()); err != nil {
			return err
		}
	}
	return nil
}

// bars is a chart of groups of bars.
type bars struct {
	title, subtitle string
	groups, series  []string
	values          [][]float64 // by series, then by group
}

// cyclesChart shows the throughput of each contender by the number of clients.
func (b *bench) cyclesChart() bars {
	c := bars{
		title:    "Locks taken and released per second",
		subtitle: "each client on its own key; clients and servers share two cores",
		series:   []string{direct, throughPipeline, through, redsyncFive},
	}
	for _, n := range clientCounts {
		c.groups = append(c.groups, clientsText(n))
	}
	for _, name := range c.series {
		var values []float64
		for _, group := range c.groups {
			v := 0.0
			if f := b.figure("a", group, name, perSecond); f != nil {
				v = f.Median()
			}
			values = append(values, v)
		}
		c.values = append(c.values, values)
	}
	return c
}

// The colours are apart from each other for the colour-blind as well, and the
// chart has a ground of its own, so that it is readable on light and on dark
// pages.
var palette = []charts.Color{
	charts.ColorFromHex("#9aa5b1"), charts.ColorFromHex("#0b6e4f"), charts.ColorFromHex("#35b07f"), charts.ColorFromHex("#d98324"),
}

func writeChart(path string, b bars) error {
	const width, height = 900, 420
	ground := charts.ColorFromHex("#fbfbf9")
	p := charts.NewPainter(charts.PainterOptions{OutputFormat: charts.ChartOutputSVG, Width: width, Height: height})
	p.FilledRect(0, 0, width, height, ground, ground, 0)
	opt := charts.NewBarChartOptionWithData(b.values)
	opt.Theme = charts.GetTheme(charts.ThemeLight).WithSeriesColors(palette).WithBackgroundColor(ground)
	opt.Padding = charts.NewBoxEqual(24)
	opt.Title = charts.TitleOption{Text: b.title, Subtext: b.subtitle, FontStyle: charts.NewFontStyleWithSize(16),
		SubtextFontStyle: charts.NewFontStyleWithSize(11)}
	opt.Legend = charts.LegendOption{SeriesNames: b.series, Offset: charts.OffsetStr{Left: charts.PositionRight},
		FontStyle: charts.NewFontStyleWithSize(11)}
	opt.XAxis = charts.XAxisOption{Labels: b.groups}
	opt.ValueFormatter = number
	for i := range opt.SeriesList {
		opt.SeriesList[i].Label = charts.SeriesLabel{Show: charts.Ptr(true), ValueFormatter: number,
			FontStyle: charts.NewFontStyleWithSize(9)}
	}
	if err := p.BarChart(opt); err != nil {
		return err
	}
	svg, err := p.Bytes()
	if err != nil {
		return err
	}
	return os.WriteFile(path, svg, 0o644)
}
