package browser

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/redlockd/redlockd/integration/rig"
)

// tab is a page in a browser, with what went wrong in it.
type tab struct {
	t   *testing.T
	ctx context.Context
	url string

	mu       sync.Mutex
	problems []string
}

// open opens a page and fails the test, at its end, if a script failed, if the
// policy stopped something, or if anything but redlockd was asked.
func open(t *testing.T, url string) *tab {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium(t)),
		// Root cannot have Chromium's own sandbox, and containers are one.
		chromedp.NoSandbox, chromedp.Flag("force-color-profile", "srgb"), chromedp.WindowSize(1440, 900))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx, url: url}
	// The first call starts the browser, and must have no time limit of its
	// own, which would end it.
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start %s: %v", chromium(t), err)
	}
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		t.Fatal(err)
	}
	send(b, log.Enable, cdp.Empty{})
	send(b, network.Enable, network.EnableParams{})
	b.run(chromedp.Navigate(url))
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, p := range b.problems {
			t.Error(p)
		}
	})
	return b
}

func chromium(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("CHROMIUM"); path != "" {
		return path
	}
	return rig.Program(t, "chromium")
}

func (b *tab) listen(event any) {
	problem := ""
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		problem = "exception: " + e.ExceptionDetails.Text
	case *log.EventEntryAdded:
		// That redlockd was gone for a moment is part of a test.
		if e.Entry.Level == "error" && !strings.Contains(e.Entry.Text, "ERR_") {
			problem = "the browser complains: " + e.Entry.Text
		}
	case *network.EventRequestWillBeSent:
		if u := e.Request.URL; !strings.HasPrefix(u, b.url) && !strings.HasPrefix(u, "data:") {
			problem = "asks somebody else: " + u
		}
	case *page.EventJavascriptDialogOpening:
		problem = "a script of a key ran: " + e.Message
	}
	if problem != "" {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.problems = append(b.problems, problem)
	}
}

// get carries an action out and returns its value.
func get[T any](b *tab, action chromedp.Action[T]) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, rig.Patience)
	defer cancel()
	value, err := chromedp.Run(ctx, action)
	if err != nil {
		b.t.Fatalf("browser: %v", err)
	}
	return value
}

func (b *tab) run(action chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	get(b, action)
}

// send sends a command of the browser's protocol.
func send[P, R any](b *tab, command cdp.Command[P, R], params P) {
	b.t.Helper()
	get(b, func(ctx context.Context, t *chromedp.Target) (R, error) { return cdp.Call(ctx, t, command, params) })
}

// sees waits until an expression of JavaScript is true; what is the claim.
func (b *tab) sees(what, expression string) {
	b.t.Helper()
	rig.Eventually(b.t, what, func() (bool, string) {
		return get(b, chromedp.Evaluate[bool]("!!("+expression+")")), get(b, chromedp.Evaluate[string]("document.body.innerText"))
	})
}

// gather waits for a chart that is worth a picture, where SHOTS asks for pictures.
func gather(d time.Duration) {
	if os.Getenv("SHOTS") != "" {
		time.Sleep(d)
	}
}

// shot keeps a picture where SHOTS names a folder.
func (b *tab) shot(name string, width int64, dark bool, vision string) {
	b.t.Helper()
	dir := os.Getenv("SHOTS")
	if dir == "" {
		return
	}
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	scale, height := 1.0, int64(1120)
	if width < 500 {
		scale, height = 2, 844
	}
	send(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	send(b, emulation.SetEmulatedVisionDeficiency,
		emulation.SetEmulatedVisionDeficiencyParams{Type: emulation.SetEmulatedVisionDeficiencyType(vision)})
	send(b, emulation.SetDeviceMetricsOverride,
		emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: scale, Mobile: width < 500})
	b.run(chromedp.Sleep(1500 * time.Millisecond)) // the next sample draws the chart for this width
	take := chromedp.FullScreenshot(100)
	if name == "readme" {
		take = chromedp.CaptureScreenshot() // what one sees first
	}
	picture := get(b, take)
	if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// TestMain needs no binary of its own: make browser names it.
func TestMain(m *testing.M) { os.Exit(rig.Main(m)) }

// master is the card of a master.
func master(name string) string {
	return fmt.Sprintf("[...document.querySelectorAll('.master')].find(e => e.querySelector('h3').textContent === %q)", name)
}
