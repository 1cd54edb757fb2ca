package zookeeper

import (
	"crypto/sha1"
	"encoding/base64"
	"slices"
	"strings"
)

// The permissions of a permit: ZooDefs.Perms.
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

// allows reports whether an ACL gives a permission to one of the identities.
func allows(acl []permit, perm int32, who []ident) bool {
	for _, p := range acl {
		if p.perms&perm != 0 && (p.ident == anyone || slices.Contains(who, p.ident)) {
			return true
		}
	}
	return false
}

// normalizeACL returns an ACL as it is stored, with "auth" replaced by all identities of
// the client. good is false if the ACL is invalid: PrepRequestProcessor.fixupACL. A client
// has no address here, so a permit for an address permits nobody.
func normalizeACL(acl []permit, who []ident) (all []permit, good bool) {
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

// digest returns the identity that "user:password" proves: DigestAuthenticationProvider.
func digest(secret []byte) ident {
	user, _, _ := strings.Cut(string(secret), ":")
	sum := sha1.Sum(secret)
	return ident{"digest", user + ":" + base64.StdEncoding.EncodeToString(sum[:])}
}

// redacted returns an ACL as clients see it that may not change it: without password
// digests.
func redacted(acl []permit) []permit {
	all := slices.Clone(acl)
	for i, p := range all {
		if p.scheme == "digest" {
			user, _, _ := strings.Cut(p.id, ":")
			all[i].id = user + ":x"
		}
	}
	return all
}
