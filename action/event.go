package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/locksim/locksim/internal/lazy"
)

// An event contains the fields that this program reads from the file that GITHUB_EVENT_PATH names.
// Its names of branches can be any text, so they are never executed. A branch name is used only as
// an escaped part of an address.
type event struct {
	// Name is the name of the event, such as pull_request.
	Name        string `json:"-"`
	Before      string `json:"before"`
	PullRequest *struct {
		Number int    `json:"number"`
		Head   commit `json:"head"`
		Base   commit `json:"base"`
	} `json:"pull_request"`
	WorkflowRun *struct {
		// Event is the event that started the run.
		Event          string     `json:"event"`
		HeadSHA        string     `json:"head_sha"`
		HeadBranch     string     `json:"head_branch"`
		HeadRepository repository `json:"head_repository"`
		PullRequests   []struct {
			Number int    `json:"number"`
			Head   commit `json:"head"`
			Base   struct {
				Repo struct {
					ID int64 `json:"id"`
				} `json:"repo"`
			} `json:"base"`
		} `json:"pull_requests"`
	} `json:"workflow_run"`
	Repository repository `json:"repository"`
}

// A commit is one side of a pull request. Repo is nil if the fork has been deleted.
type commit struct {
	SHA  string      `json:"sha"`
	Repo *repository `json:"repo"`
}

// A repository is a repository on GitHub.
type repository struct {
	ID       int64  `json:"id"`
	FullName string `json:"full_name"`
	Owner    struct {
		Login string `json:"login"`
	} `json:"owner"`
}

// readEvent reads the file of an event. It refuses events for which the action would be
// dangerous.
func readEvent(name, file string) (*event, error) {
	if name == "pull_request_target" {
		return nil, fmt.Errorf("the event pull_request_target gives a token with rights to code of the pull request; use the event pull_request")
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("GITHUB_EVENT_PATH names the file of the event: %w", err)
	}
	e := &event{}
	if err := json.Unmarshal(data, e); err != nil {
		return nil, fmt.Errorf("%s is not the file of an event: %w", file, err)
	}
	e.Name = name
	return e, nil
}

// sha matches the name of a commit, and nothing that git or a shell would read differently.
var sha = lazy.Regexp(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)

// baseCommit returns the commit to compare with. By default, a workflow checks out the merge of a
// pull request and its base; the first parent of that merge is exactly the base. parents are the
// parents of the commit that is checked out. If there is nothing to compare with, why says why.
func (e *event) baseCommit(parents []string) (base, why string) {
	switch {
	case e.PullRequest != nil && len(parents) == 2 && parents[1] == e.PullRequest.Head.SHA:
		base = parents[0]
	case e.PullRequest != nil:
		base = e.PullRequest.Base.SHA
	case e.Name == "push":
		base = e.Before
	default:
		return "", fmt.Sprintf("the event %s has no base", e.Name)
	}
	switch {
	case !sha().MatchString(base):
		return "", "the event names no commit as its base"
	case base == zeroSHA[:len(base)]:
		return "", "the branch is new"
	}
	return base, ""
}

// zeroSHA is what GitHub writes where there is no commit.
const zeroSHA = "0000000000000000000000000000000000000000000000000000000000000000"
