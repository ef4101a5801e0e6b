// What Go's standard client sees of an origin, or of a server before it: a line of JSON for each request, its name and what came.
//
//	clients.go BASE
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
)

type seen struct {
	Name   string
	Status int
	Fields [][2]string
	Body   string
	Error  bool
}

var base = os.Args[1]
var out = json.NewEncoder(os.Stdout)

// The client that gives redirects back as they are.
var still = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

func ask(client *http.Client, name, method, path string, body io.Reader, change func(*http.Request)) {
	request, err := http.NewRequest(method, base+path, body)
	if err != nil {
		panic(err)
	}
	if change != nil {
		change(request)
	}
	answer, err := client.Do(request)
	if err != nil {
		out.Encode(seen{Name: name, Error: true})
		return
	}
	defer answer.Body.Close()
	all, err := io.ReadAll(answer.Body)
	result := seen{Name: name, Status: answer.StatusCode, Body: fmt.Sprintf("%x", sha256.Sum256(all)), Error: err != nil}
	for _, fields := range []http.Header{answer.Header, answer.Trailer} {
		for field, values := range fields {
			for _, value := range values {
				result.Fields = append(result.Fields, [2]string{field, value})
			}
		}
	}
	out.Encode(result)
}

func with(field, value string) func(*http.Request) {
	return func(request *http.Request) { request.Header.Set(field, value) }
}

// What hides how long it is, so that it goes in chunks.
type unknown struct{ io.Reader }

func main() {
	large := bytes.Repeat([]byte("all that is to be sent "), 60_000)
	for status := 200; status < 600; status++ {
		if status == 206 || status == 304 || status == 416 {
			continue
		}
		ask(still, fmt.Sprintf("status %d", status), "GET", fmt.Sprintf("/status/%d", status), nil, nil)
		ask(still, fmt.Sprintf("POST to %d", status), "POST", fmt.Sprintf("/status/%d", status), strings.NewReader("a=1"), nil)
	}
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "PROPFIND"} {
		ask(still, method+" of JSON", method, "/json", nil, nil)
	}
	form := url.Values{"name": {"Jürgen"}, "text": {strings.Repeat("x", 5000)}}.Encode()
	ask(still, "form", "POST", "/form?a=1&b=%20", strings.NewReader(form), with("Content-Type", "application/x-www-form-urlencoded"))
	ask(still, "upload", "PUT", "/upload", bytes.NewReader(large), nil)
	ask(still, "upload in chunks", "PUT", "/upload", unknown{bytes.NewReader(large)}, nil)
	ask(still, "upload that waits", "PUT", "/upload", bytes.NewReader(large), with("Expect", "100-continue"))
	ask(still, "upload with trailers", "PUT", "/upload", unknown{bytes.NewReader(large)}, func(request *http.Request) {
		request.Trailer = http.Header{"X-Sum": {"7"}}
	})
	ask(http.DefaultClient, "redirects", "GET", "/chain/7", nil, nil)
	ask(http.DefaultClient, "form that is sent on", "POST", "/status/307", strings.NewReader(form), nil)
	ask(still, "text as it takes it", "GET", "/text", nil, nil)
	ask(still, "text in identity", "GET", "/text", nil, with("Accept-Encoding", "identity"))
	ask(still, "trailers", "GET", "/trailers", nil, nil)
	ask(still, "page", "GET", "/page", nil, nil)
	ask(still, "condition", "GET", "/json", nil, with("If-Modified-Since", "Sun, 01 Nov 2026 10:00:00 GMT"))
	ask(still, "large", "GET", "/large", nil, nil)
	ask(still, "range", "GET", "/large", nil, with("Range", "bytes=1000000-1999999"))
	ask(still, "last bytes", "GET", "/large", nil, with("Range", "bytes=2999000-"))
	var all sync.WaitGroup
	var mutex sync.Mutex
	whole := 0
	for i := 0; i < 16; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			answer, err := still.Get(base + "/large")
			if err != nil {
				return
			}
			defer answer.Body.Close()
			if count, err := io.Copy(io.Discard, answer.Body); err == nil && count == answer.ContentLength {
				mutex.Lock()
				whole++
				mutex.Unlock()
			}
		}()
	}
	all.Wait()
	out.Encode(seen{Name: "large, 16 at once", Status: whole})
}
