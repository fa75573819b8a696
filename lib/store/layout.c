/* SPDX-License-Identifier: MIT */
#include "store/layout.h"

#include "store/health.h"
#include "store/shadow.h"

#include <sys/file.h>

const char layout_head[] = "ref: refs/heads/latest\n";

const char *const layout_dirs[] = { "objects", "objects/info", "objects/pack",
				    "refs",	       "refs/heads",   "refs/checkpoints",
				    "refs/keep",    "info",	   "checkpoint",
				    NULL };

/*
 * Stock git must be able to read the store without interference from the
 * user's configuration, and judge the store rather than the user's files: what
 * fsck says about the contents of a .gitmodules is not damage. Unknown message
 * ids make fsck die, so only those of git 2.39 are here.
 */
static const char config_head[] = "[core]\n"
				  "\trepositoryFormatVersion = 0\n"
				  "\tbare = false\n"
				  "\tfileMode = true\n"
				  "\tautocrlf = false\n"
				  "\tsafecrlf = false\n"
				  "\tlogAllRefUpdates = false\n"
				  "\thooksPath = /dev/null\n"
				  "\tfsmonitor = false\n"
				  "\tprotectNTFS = false\n"
				  "\tprotectHFS = false\n";

static const char config_tail[] = "[gc]\n"
				  "\tauto = 0\n"
				  "[commit]\n"
				  "\tgpgSign = false\n"
				  "[fsck]\n";

static const char *const fsck_ignored[] = {
	"hasDotgit",
	"gitmodulesMissing",
	"gitmodulesBlob",
	"gitmodulesLarge",
	"gitmodulesName",
	"gitmodulesSymlink",
	"gitmodulesUrl",
	"gitmodulesPath",
	"gitmodulesUpdate",
	"gitmodulesParse",
	"gitignoreSymlink",
	"gitattributesSymlink",
	"mailmapSymlink",
	"gitattributesBlob",
	"gitattributesLarge",
	"gitattributesLineLength",
	"gitattributesMissing",
};

/*
 * Highest in precedence of all attributes: whatever a project says, its bytes
 * are stored, and checked out by stock git, unchanged. For the last two
 * "unspecified" is the only value that git accepts.
 */
const char layout_attributes[] = "* -text -crlf -ident -filter !eol !working-tree-encoding\n";

void layout_config(struct strbuf *out, const char *worktree)
{
	strbuf_addstr(out, config_head);
	strbuf_addstr(out, "\tworktree = ");
	quote_config(out, worktree);
	strbuf_addch(out, '\n');
	strbuf_addstr(out, config_tail);
	for (size_t i = 0; i < ARRAY_SIZE(fsck_ignored); i++)
		strbuf_addf(out, "\t%s = ignore\n", fsck_ignored[i]);
}

static bool is_half_made(const char *name)
{
	return !strncmp(name, FS_TEMP_PREFIX, strlen(FS_TEMP_PREFIX));
}

/* Half-made stores of dead processes. */
static void sweep_home(const char *home)
{
	struct strlist names = STRLIST_INIT;

	(void)fs_names(&names, AT_FDCWD, home, 0, is_half_made);
	for (size_t i = 0; i < names.nr; i++) {
		char *path = xstrfmt("%s/%s", home, names.items[i]);

		(void)fs_remove_tree(AT_FDCWD, path);
		free(path);
	}
	strlist_release(&names);
}

/*
 * Every process that creates a store shares this lock, so that one that holds
 * it exclusively knows that nothing half-made belongs to a living process, and
 * that no new store appears where it is moving one away.
 */
int layout_lock_home(const char *home, bool alone)
{
	char *name = xstrfmt("%s/lock", home);
	int fd = open(name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	free(name);
	if (fd >= 0)
		(void)fs_give_to_owner(fd, AT_FDCWD, home);
	if (fd >= 0 && !flock(fd, LOCK_EX | (alone ? 0 : LOCK_NB)))
		sweep_home(home);
	if (fd >= 0 && !alone)
		(void)flock(fd, LOCK_SH);
	return fd;
}

int layout_create(const char *home, const char *path, const char *worktree)
{
	char *temp = xstrfmt("%s/" FS_TEMP_PREFIX "XXXXXX", home);
	struct store made = { .path = temp, .worktree = (char *)worktree };
	int dirfd = -1, err = 0, lockfd = layout_lock_home(home, false);

	if (lockfd < 0 || !mkdtemp(temp)) {
		err = ckpt_error_errno("unable to create a store in '%s'", home);
		fs_close(lockfd);
		free(temp);
		return err;
	}
	dirfd = open(temp, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	made.dirfd = dirfd;
	err = dirfd < 0 || fs_give_to_owner(dirfd, AT_FDCWD, home) < 0
		      ? ckpt_error_errno("unable to open '%s'", temp)
		      : health_make(&made);
	if (!err && rename(temp, path) < 0) {
		if (errno != EEXIST && errno != ENOTEMPTY)
			err = ckpt_error_errno("unable to create the store '%s'", path);
	} else if (!err) {
		err = fs_sync_dir(AT_FDCWD, home);
		free(temp);
		temp = NULL;
	}
	fs_close(dirfd);
	if (temp) {
		char *kept = err ? ckpt_error_keep() : NULL;

		(void)fs_remove_tree(AT_FDCWD, temp);
		ckpt_error_put_back(err, kept);
		free(temp);
	}
	close(lockfd);
	return err;
}
