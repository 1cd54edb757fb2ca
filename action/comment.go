package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/lazy"
)

// author is the account that writes the action's comments. A comment is the action's own if
// this account has written it, and if it begins with a marker.
const author = "github-actions[bot]"

var (
	// repositoryName matches OWNER/NAME, and commentName the name of a comment.
	repositoryName = lazy.Regexp(`^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$`)
	commentName    = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9 _.]{0,39}$`)
)

// A client talks to GitHub's API about one repository.
type client struct {
	api, repository, token string
	http                   *http.Client
}

// comment writes the changes as a comment to the pull request, or replaces the action's
// earlier comment. If nothing changed, it only replaces an earlier comment, and writes no new
// one.
func comment(ctx context.Context, e *event, env func(string) string) error {
	c := client{env("GITHUB_API_URL"), env("GITHUB_REPOSITORY"), env("GITHUB_TOKEN"), &http.Client{Timeout: 30 * time.Second}}
	switch {
	case c.api == "" || c.token == "":
		return errors.New("GITHUB_API_URL and GITHUB_TOKEN are not set")
	case !repositoryName().MatchString(c.repository):
		return fmt.Errorf("GITHUB_REPOSITORY is %q", c.repository)
	}
	name := env("LOCKSIM_NAME")
	if !commentName().MatchString(name) {
		return fmt.Errorf("the input name is %q; give a letter or digit, and then letters, digits, blanks, _ or . (at most 40 in all)", name)
	}
	number, head, why, err := c.pullRequest(ctx, e)
	if err != nil {
		return err
	}
	if why != "" {
		fmt.Println("There is no comment:", why)
		return nil
	}
	d, err := readChanges(env("LOCKSIM_CHANGES"))
	if err != nil {
		return err
	}
	marker := "<!-- locksim: " + name + " -->"
	earlier, err := c.earlier(ctx, number, marker)
	if err != nil {
		return err
	}
	body := map[string]string{"body": marker + "\n" + d.markdown("Commit "+head+", compared with its base.")}
	switch {
	case earlier != 0:
		return c.call(ctx, http.MethodPatch, "issues/comments/"+strconv.FormatInt(earlier, 10), body, nil)
	case d.isSame():
		fmt.Println("There is no comment: nothing changed")
		return nil
	}
	return c.call(ctx, http.MethodPost, "issues/"+strconv.Itoa(number)+"/comments", body, nil)
}

// pullRequest returns the number of the pull request and its newest commit. They come from the
// event and from GitHub, never from a file that code of the pull request wrote. why says why there
// is no pull request to comment on; "" if there is one.
func (c client) pullRequest(ctx context.Context, e *event) (number int, head, why string, err error) {
	switch {
	case e.PullRequest != nil:
		from := e.PullRequest.Head.Repo
		if from == nil || from.FullName != c.repository {
			return 0, "", "the pull request is from a fork, whose token must not write; comment in a workflow for workflow_run", nil
		}
		number, head = e.PullRequest.Number, e.PullRequest.Head.SHA
	case e.WorkflowRun == nil:
		return 0, "", fmt.Sprintf("the event %s has no pull request", e.Name), nil
	case e.WorkflowRun.Event != "pull_request":
		return 0, "", "the run was not for a pull request", nil
	default:
		head = e.WorkflowRun.HeadSHA
		if number, err = c.numberOf(ctx, e); err != nil {
			return 0, "", "", err
		}
		if number == 0 {
			return 0, "", "no open pull request has this commit any more", nil
		}
	}
	if number <= 0 || !sha().MatchString(head) {
		return 0, "", "", errors.New("the event names no pull request")
	}
	return number, head, "", nil
}

// numberOf returns the number of the pull request of a workflow's run, and 0 if there is none.
// GitHub lists no pull requests for a run of a fork, so they are looked up by branch. A pull
// request that has a newer commit does not count, because the run of the newer commit comments on
// it.
func (c client) numberOf(ctx context.Context, e *event) (int, error) {
	run := e.WorkflowRun
	for _, p := range run.PullRequests {
		if p.Base.Repo.ID == e.Repository.ID && p.Head.SHA == run.HeadSHA {
			return p.Number, nil
		}
	}
	var open []struct {
		Number int    `json:"number"`
		Head   commit `json:"head"`
	}
	query := url.Values{"state": {"open"}, "per_page": {"100"}, "head": {run.HeadRepository.Owner.Login + ":" + run.HeadBranch}}
	if err := c.call(ctx, http.MethodGet, "pulls?"+query.Encode(), nil, &open); err != nil {
		return 0, err
	}
	for _, p := range open {
		if p.Head.SHA == run.HeadSHA {
			return p.Number, nil
		}
	}
	return 0, nil
}

// earlier returns the number of the action's earlier comment, and 0 if there is none.
// Comments of other accounts do not count, even if they begin with the marker.
func (c client) earlier(ctx context.Context, number int, marker string) (int64, error) {
	for page := 1; page <= 30; page++ {
		var comments []struct {
			ID   int64  `json:"id"`
			Body string `json:"body"`
			User struct {
				Login string `json:"login"`
			} `json:"user"`
		}
		path := fmt.Sprintf("issues/%d/comments?per_page=100&page=%d", number, page)
		if err := c.call(ctx, http.MethodGet, path, nil, &comments); err != nil {
			return 0, err
		}
		for _, m := range comments {
			if m.User.Login == author && strings.HasPrefix(m.Body, marker) {
				return m.ID, nil
			}
		}
		if len(comments) < 100 {
			break
		}
	}
	return 0, nil
}

// call sends a request about the repository, and reads the answer into out unless it is nil.
func (c client) call(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(data)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.api+"/repos/"+c.repository+"/"+path, body)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "application/vnd.github+json")
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set("X-GitHub-Api-Version", "2022-11-28")
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		hint := ""
		if response.StatusCode == http.StatusForbidden {
			hint = "; the job needs the permission pull-requests: write"
		}
		return fmt.Errorf("GitHub answers %s %s with %s%s", method, path, response.Status, hint)
	}
	if out == nil {
		return nil
	}
	return json.NewDecoder(io.LimitReader(response.Body, 16<<20)).Decode(out)
}
