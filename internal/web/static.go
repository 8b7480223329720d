package web

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// Answers are what a server answered, by the request as the page writes it: "v1/runs/a/report?by=rank".
type Answers map[string][]byte

// WriteStatic writes the page as one file that opens without a server, and shows one run: what it
// asks for is taken from the answers.
func WriteStatic(w io.Writer, name string, answers Answers) error {
	page, err := fs.ReadFile(Files(), "index.html")
	if err != nil {
		return err
	}
	style, err := fs.ReadFile(Files(), "app.css")
	if err != nil {
		return err
	}
	script, err := fs.ReadFile(Files(), "app.js")
	if err != nil {
		return err
	}
	kept, err := encode(name, answers)
	if err != nil {
		return err
	}
	text := string(page)
	for _, r := range []struct{ from, to string }{
		{`<link rel="icon" href="icon.svg" type="image/svg+xml">` + "\n", ""},
		{`<link rel="stylesheet" href="app.css">`, "<style>\n" + strings.TrimSpace(string(style)) + "\n</style>"},
		{`<script type="module" src="app.js"></script>`, `<script type="application/json" id="efg-answers">` + kept + "</script>\n" + inline(script)},
	} {
		if strings.Count(text, r.from) != 1 {
			return fmt.Errorf("the page has no %s", r.from)
		}
		text = strings.Replace(text, r.from, r.to, 1)
	}
	_, err = io.WriteString(w, text)
	return err
}

// inline makes a script element of a module. Its texts must not end the element.
func inline(script []byte) string {
	text := strings.ReplaceAll(string(script), "</script", `<\/script`)
	return `<script type="module">` + "\n" + strings.ReplaceAll(text, "<!--", `<\!--`) + "</script>"
}

// encode writes the answers as JSON: their bytes compressed, in base64.
func encode(name string, answers Answers) (string, error) {
	list := map[string]string{}
	for request, answer := range answers {
		var b bytes.Buffer
		z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
		if err != nil {
			return "", err
		}
		if _, err := z.Write(answer); err != nil {
			return "", err
		}
		if err := z.Close(); err != nil {
			return "", err
		}
		list[request] = base64.StdEncoding.EncodeToString(b.Bytes())
	}
	text, err := json.Marshal(map[string]any{"run": name, "answers": list}) // escapes < and >
	return string(text), err
}
