package etcd_test

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/locksim/locksim/servers/etcd/recipes"
)

// A serverHolding is what a script has acquired through the services Lock and Election, in
// which the server acquires for its client.
type serverHolding struct {
	results chan string // the result of a Lock in the background, or what Observe has sent
	leader  recipes.Message
}

func init() {
	for name, does := range map[string]func(*scriptRunner, context.Context, []string) (string, error){
		"server-lock":     (*scriptRunner).serverLock,     // L KEY [for DURATION]; if L is none, the server makes a session
		"server-wait":     (*scriptRunner).serverWait,     // L KEY: server-lock, in the background
		"server-got":      (*scriptRunner).serverGot,      // L: the result of server-wait
		"server-unlock":   (*scriptRunner).serverUnlock,   // L KEY
		"server-campaign": (*scriptRunner).serverCampaign, // L KEY VALUE [for DURATION]
		"server-proclaim": (*scriptRunner).serverProclaim, // L VALUE; if L is nothing, the request has an empty leader
		"server-resign":   (*scriptRunner).serverResign,   // L, or nothing
		"server-leader":   (*scriptRunner).serverLeader,   // KEY
		"server-observe":  (*scriptRunner).serverObserve,  // O KEY
		"server-next":     (*scriptRunner).serverNext,     // O: what Observe has sent since the last request
	} {
		commands[name] = does
	}
}

// call calls a method of the server and stores its response in answer.
func (s *scriptRunner) call(ctx context.Context, path string, request, answer recipes.Message) error {
	err := s.client.ActiveConnection().Invoke(ctx, path, request.Message, answer.Message)
	if err != nil && strings.Contains(err.Error(), context.DeadlineExceeded.Error()) {
		return context.DeadlineExceeded // the client or the server may be the first to report the timeout
	}
	return err
}

func (s *scriptRunner) serverHolding(name string) *serverHolding {
	if s.serverHoldings == nil {
		s.serverHoldings = map[string]*serverHolding{}
	}
	if s.serverHoldings[name] == nil {
		s.serverHoldings[name] = &serverHolding{}
	}
	return s.serverHoldings[name]
}

func (s *scriptRunner) leaseOrNone(name string) (int64, error) {
	if name == "none" {
		return 0, nil
	}
	id, err := s.lease(name)
	return int64(id), err
}

func (s *scriptRunner) serverLock(ctx context.Context, words []string) (string, error) {
	lease, err := s.leaseOrNone(words[0])
	if err != nil {
		return "", err
	}
	ctx, cancel := withTimeout(ctx, words)
	defer cancel()
	got := recipes.New("v3lockpb.LockResponse")
	if err := s.call(ctx, recipes.Lock, recipes.New("v3lockpb.LockRequest").With("name", words[1]).With("lease", lease), got); err != nil {
		return "", err
	}
	key := string(got.Bytes("key"))
	if lease == 0 {
		key = key[:strings.LastIndexByte(key, '/')+1] + "its own"
	}
	return fmt.Sprintf("%s, got in %d", key, got.Header().Revision), nil
}

func (s *scriptRunner) serverWait(_ context.Context, words []string) (string, error) {
	held := s.serverHolding(words[0])
	held.results = make(chan string, 1)
	go func() {
		got, err := s.serverLock(s.client.Ctx(), words)
		if err != nil {
			got = describeError(err)
		}
		held.results <- got
	}()
	s.pass(quiet) // long enough for its key to exist
	return "", nil
}

func (s *scriptRunner) serverGot(_ context.Context, words []string) (string, error) {
	s.pass(quiet)
	select {
	case got := <-s.serverHolding(words[0]).results:
		return got, nil
	default:
		return "waits", nil
	}
}

func (s *scriptRunner) serverUnlock(ctx context.Context, words []string) (string, error) {
	key := ""
	if len(words) > 1 {
		lease, err := s.leaseOrNone(words[0])
		if err != nil {
			return "", err
		}
		key = fmt.Sprintf("%s/%x", words[1], lease)
	}
	done := recipes.New("v3lockpb.UnlockResponse")
	if err := s.call(ctx, recipes.Unlock, recipes.New("v3lockpb.UnlockRequest").With("key", key), done); err != nil {
		return "", err
	}
	return fmt.Sprintf("rev %d", done.Header().Revision), nil
}

func (s *scriptRunner) serverCampaign(ctx context.Context, words []string) (string, error) {
	lease, err := s.leaseOrNone(words[0])
	if err != nil {
		return "", err
	}
	ctx, cancel := withTimeout(ctx, words)
	defer cancel()
	got := recipes.New("v3electionpb.CampaignResponse")
	request := recipes.New("v3electionpb.CampaignRequest").With("name", words[1]).With("lease", lease).With("value", words[2])
	if err := s.call(ctx, recipes.Campaign, request, got); err != nil {
		return "", err
	}
	l := got.Leader()
	s.serverHolding(words[0]).leader = l
	return fmt.Sprintf("%s of %s made in %d by %x, got in %d", l.Bytes("key"), l.Bytes("name"), l.Int("rev"), l.Int("lease"), got.Header().Revision), nil
}

// leaderRequest returns a request with the LeaderKey of a session, if the session leads.
func (s *scriptRunner) leaderRequest(name, request string) recipes.Message {
	m := recipes.New(request)
	if name == "nothing" {
		return m.With("leader", recipes.New("v3electionpb.LeaderKey"))
	}
	if l := s.serverHolding(name).leader; l.Message != nil {
		m = m.With("leader", l)
	}
	return m
}

func (s *scriptRunner) serverProclaim(ctx context.Context, words []string) (string, error) {
	done := recipes.New("v3electionpb.ProclaimResponse")
	if err := s.call(ctx, recipes.Proclaim, s.leaderRequest(words[0], "v3electionpb.ProclaimRequest").With("value", words[1]), done); err != nil {
		return "", err
	}
	return fmt.Sprintf("rev %d", done.Header().Revision), nil
}

func (s *scriptRunner) serverResign(ctx context.Context, words []string) (string, error) {
	done := recipes.New("v3electionpb.ResignResponse")
	if err := s.call(ctx, recipes.Resign, s.leaderRequest(words[0], "v3electionpb.ResignRequest"), done); err != nil {
		return "", err
	}
	return fmt.Sprintf("rev %d", done.Header().Revision), nil
}

func (s *scriptRunner) serverLeader(ctx context.Context, words []string) (string, error) {
	is := recipes.New("v3electionpb.LeaderResponse")
	if err := s.call(ctx, recipes.Leader, recipes.New("v3electionpb.LeaderRequest").With("name", words[0]), is); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s, rev %d", describeKeyValue(is.KeyValue()), is.Header().Revision), nil
}

func (s *scriptRunner) serverObserve(_ context.Context, words []string) (string, error) {
	held := s.serverHolding(words[0])
	held.results = make(chan string, 100)
	stream, err := s.client.ActiveConnection().NewStream(s.client.Ctx(), &grpc.StreamDesc{ServerStreams: true}, recipes.Observe)
	if err == nil {
		err = stream.SendMsg(proto.Message(recipes.New("v3electionpb.LeaderRequest").With("name", words[1]).Message))
	}
	if err == nil {
		err = stream.CloseSend()
	}
	if err != nil {
		return "", err
	}
	go func() {
		for {
			is := recipes.New("v3electionpb.LeaderResponse")
			if err := stream.RecvMsg(is.Message); err != nil {
				held.results <- describeError(err)
				return
			}
			held.results <- fmt.Sprintf("%s, rev %d", describeKeyValue(is.KeyValue()), is.Header().Revision)
		}
	}()
	s.pass(quiet)
	return "", nil
}

func (s *scriptRunner) serverNext(_ context.Context, words []string) (string, error) {
	s.pass(quiet)
	var all []string
	for {
		select {
		case is := <-s.serverHolding(words[0]).results:
			all = append(all, is)
		default:
			return strings.Join(all, ", then "), nil
		}
	}
}
