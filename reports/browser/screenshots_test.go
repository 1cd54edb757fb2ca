package browser_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

var screenshots = flag.String("screenshots", "", "write screenshots of some pages into this folder")

// TestScreenshots writes screenshots for people to look at. It shows some pages on a phone
// and on a desktop, in the light and in the dark color scheme.
//
//	go test ./reports/browser -run TestScreenshots -screenshots FOLDER
func TestScreenshots(t *testing.T) {
	if *screenshots == "" {
		t.Skip("-screenshots names no folder for them")
	}
	if err := os.MkdirAll(*screenshots, 0o777); err != nil {
		t.Fatal(err)
	}
	folder := siteFolder(t)
	for _, name := range append(pageKinds(t), "clock-jump.html", "fencing-gap.html") {
		for _, v := range []view{phone.withDark(false), phone.withDark(true), desktop.withDark(false), desktop.withDark(true)} {
			p := open(t, filepath.Join(folder, name), v)
			scheme := map[bool]string{false: "light", true: "dark"}[v.dark]
			file := strings.TrimSuffix(name, ".html") + "-" + strconv.FormatInt(v.width, 10) + "-" + scheme
			p.photograph(filepath.Join(*screenshots, file+".png"))
			if len(p.visibleRuns()) > 0 {
				p.choose("off", "on")
			}
			v.height = eval[int64](p, `document.scrollingElement.scrollHeight`)
			p.setView(v)
			p.photograph(filepath.Join(*screenshots, file+"-whole.png"))
		}
	}
}

// photograph writes a screenshot of the window to a file.
func (p *tab) photograph(file string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(file, picture, 0o666); err != nil {
		p.t.Fatal(err)
	}
}
