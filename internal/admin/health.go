package admin

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// healthTime is how long -health waits for an answer.
const healthTime = 5 * time.Second

// AskHealth is -health: it requests an address like http://127.0.0.1:9736/healthz and
// returns an error unless the answer is 200, so that a container without a shell can
// check itself. It writes the answer to stdout.
func AskHealth(ctx context.Context, address *url.URL, stdout io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, healthTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return fmt.Errorf("health: %w", err)
	}
	// Use no proxy from the environment: the check is of this very address.
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("health: %w", err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxHeaderBytes))
	if err != nil {
		return fmt.Errorf("health: %w", err)
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("health: %s: %s", answer.Status, strings.TrimSpace(string(text)))
	}
	_, err = stdout.Write(text)
	return err
}
