package admin

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/redlockd/redlockd/internal/config"
)

// TestAdminRequestsAreSmall: neither the head nor the body of a request takes much
// memory. Go's server allows 4 KiB more than its limit.
func TestAdminRequestsAreSmall(t *testing.T) {
	_, url := startAdmin(t, "", threeMasters())
	const head = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
	line := "X: " + strings.Repeat("x", 1000) + "\r\n"
	for rest, want := range map[string]string{
		line: "200",
		strings.Repeat(line, 3+maxHeaderBytes/1000+4):     "431",
		"X: " + strings.Repeat("x", maxHeaderBytes+8<<10): "431",
	} {
		c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, head+rest+"\r\n"); err != nil {
			t.Fatal(err)
		}
		answer := make([]byte, len("HTTP/1.1 200"))
		if _, err := io.ReadFull(c, answer); err != nil || !strings.HasSuffix(string(answer), " "+want) {
			t.Errorf("%d bytes: %q, %v; want %s", len(rest), answer, err, want)
		}
	}
}

// slowSource is slow to provide what only /metrics needs.
type slowSource struct {
	*fixedSource
	asked, gate chan struct{}
}

func (s *slowSource) Refused() map[string]uint64 {
	select {
	case s.asked <- struct{}{}:
	default:
	}
	<-s.gate
	return s.fixedSource.Refused()
}

// TestScrapesAreFew: the number of concurrent scrapes is limited; one more is told to
// come again.
func TestScrapesAreFew(t *testing.T) {
	source := &slowSource{threeMasters(), make(chan struct{}, maxScrapes), make(chan struct{})}
	a := newServer(config.Admin{}, source)
	defer a.page.Stop()
	scrape := func() int {
		w := httptest.NewRecorder()
		a.server.Handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/metrics", nil))
		return w.Code
	}
	codes := make(chan int, maxScrapes)
	for range maxScrapes {
		go func() { codes <- scrape() }()
		<-source.asked
	}
	if code := scrape(); code != http.StatusServiceUnavailable {
		t.Errorf("one too many: %d, want 503", code)
	}
	close(source.gate)
	for range maxScrapes {
		if code := <-codes; code != http.StatusOK {
			t.Errorf("one of the first: %d", code)
		}
	}
	if code := scrape(); code != http.StatusOK {
		t.Errorf("afterwards: %d", code)
	}
}
