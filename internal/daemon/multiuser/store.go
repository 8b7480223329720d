package multiuser

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/efg-tools/efg/internal/account"
	"github.com/efg-tools/efg/internal/service"
)

// DefaultStore is where runs are stored.
const DefaultStore = "/var/lib/efg/%u"

// checkStore checks that a path for stores is different for each user.
func checkStore(path string) error {
	a := &account.Account{Name: "a", UID: 1, Home: "/a"}
	b := &account.Account{Name: "b", UID: 2, Home: "/b"}
	x, err := service.Expand(path, a)
	if err != nil {
		return err
	}
	y, err := service.Expand(path, b)
	if err != nil {
		return err
	}
	if x == y || !filepath.IsAbs(x) {
		return errors.New("want an absolute path with %u, %U or %h in it: each user needs their own")
	}
	return nil
}

// storeFor is the store of a user. It is created here if only root can do so; otherwise the
// user's child creates it.
func (s *supervisor) storeFor(a *account.Account) (string, error) {
	dir, err := s.site.StoreOf(a)
	if err != nil {
		return "", err
	}
	if !isRoots(filepath.Dir(dir)) {
		return dir, nil
	}
	if err := makeOwned(dir, a.UID); err != nil {
		return "", err
	}
	fi, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	if !fi.IsDir() || ownerOf(fi) != a.UID {
		return "", fmt.Errorf("%s: belongs to user %d, not to %s", dir, ownerOf(fi), a.Name)
	}
	return dir, nil
}

// isRoots reports whether only root can change a directory's content, and replace it.
func isRoots(dir string) bool {
	if service.OnlyRootWrites(dir) != nil {
		return false
	}
	for dir != "/" {
		dir = filepath.Dir(dir)
		fi, err := os.Lstat(dir)
		if err != nil || !fi.IsDir() || ownerOf(fi) != 0 || fi.Mode().Perm()&0o022 != 0 && fi.Mode()&fs.ModeSticky == 0 {
			return false
		}
	}
	return true
}

// makeStores creates the directory of the default stores if these are used and it does not
// exist.
func makeStores(store string) error {
	if store != DefaultStore {
		return nil
	}
	dir := filepath.Dir(DefaultStore)
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return service.OnlyRootWrites(dir)
}
