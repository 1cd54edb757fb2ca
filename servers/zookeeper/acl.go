package zookeeper

import (
	"crypto/sha1"
	"encoding/base64"
	"slices"
	"strings"
)

// What a permit permits: ZooDefs.Perms.
const (
	permRead   = 1
	permWrite  = 2
	permCreate = 4
	permDelete = 8
	permAdmin  = 16
	permAll    = 31
)

var (
	anyone = ident{"world", "anyone"}
	open   = []permit{{permAll, anyone}}
)

// allows says whether somebody may do something by an ACL.
func allows(acl []permit, perm int32, who []ident) bool {
	for _, p := range acl {
		if p.perms&perm != 0 && (p.ident == anyone || slices.Contains(who, p.ident)) {
			return true
		}
	}
	return false
}

// proper is an ACL as it is kept, in which "auth" stands for everybody that the client is.
// It is not ok if it is none: PrepRequestProcessor.fixupACL. A client has no address here,
// so nobody is permitted anything by it.
func proper(acl []permit, who []ident) (all []permit, good bool) {
	add := func(p permit) {
		if !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	for _, p := range acl {
		switch {
		case p.ident == anyone:
			add(p)
		case p.scheme == "auth":
			for _, w := range who {
				add(permit{p.perms, w})
			}
			if len(who) == 0 {
				return nil, false
			}
		case p.scheme == "digest" && strings.Count(p.id, ":") == 1:
			add(p)
		case p.scheme == "ip" && p.id != "":
			add(p)
		default:
			return nil, false
		}
	}
	return all, len(all) > 0
}

// digest is who proves to be somebody by "user:password": DigestAuthenticationProvider.
func digest(secret []byte) ident {
	user, _, _ := strings.Cut(string(secret), ":")
	sum := sha1.Sum(secret)
	return ident{"digest", user + ":" + base64.StdEncoding.EncodeToString(sum[:])}
}

// hidden is an ACL as those see it who may not change it: without what proves who is who.
func hidden(acl []permit) []permit {
	all := slices.Clone(acl)
	for i, p := range all {
		if p.scheme == "digest" {
			user, _, _ := strings.Cut(p.id, ":")
			all[i].id = user + ":x"
		}
	}
	return all
}
