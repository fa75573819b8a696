#!/bin/sh
# SPDX-License-Identifier: MIT
# Tarball, installation and package, each in a scratch directory, from one build.

. "$(dirname "$0")/../lib/harness.sh"

SRC=$SCRATCH/src

# As the user would call it, not as a part of the make that runs the tests.
make_in() {
	make_dir=$1
	shift
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u MAKEOVERRIDES make --no-print-directory -C "$make_dir" "$@"
}

# What is in the working directory now: git has a commit for changes that are not committed.
revision() {
	git -C "$ROOT_DIR" stash create 2>/dev/null | grep . || echo HEAD
}

tarball() {
	make_in "$ROOT_DIR" -s dist BUILD="$1" REV="$(revision)" 2>"$T/dist.err" | tail -n 1
}

# All programs but git.
without_git() {
	if test ! -e "$SCRATCH/bin"; then
		mkdir "$SCRATCH/bin"
		echo "$TOOLS" | tr : '\n' | while read -r dir; do
			test ! -d "$dir" || find "$dir/" -maxdepth 1 ! -type d ! -name 'git*' \
				-exec ln -s -t "$SCRATCH/bin" {} + 2>/dev/null || :
		done
	fi
	PATH=$SCRATCH/bin "$@"
}

# The sources in $SRC, from the tarball, compiled there once, without git; fast, because of what
# the program does only that it is there matters here.
FAST='CFLAGS=-O0 CPPFLAGS= LDFLAGS= DEB_BUILD=build'
build_sources() {
	test ! -e "$SCRATCH/built" || return 0
	rm -rf "$SRC"
	mkdir "$SRC"
	if test -e "$ROOT_DIR/.git"; then
		tar -xzf "$(tarball "$T/dist")" -C "$SRC" --strip-components 1
	else
		(cd "$ROOT_DIR" && tar -cf - --exclude=./build --exclude='./build-*' .) | tar -xf - -C "$SRC"
	fi
	# shellcheck disable=SC2086
	without_git make_in "$SRC" -s -j"$(nproc)" $FAST >"$T/make.out" 2>&1 || {
		cat "$T/make.out"
		fail 'the tarball does not build'
	}
	: >"$SCRATCH/built"
}

# install_to <dir> <variable>...: `make install` there, and the same for uninstall_from
install_to() {
	install_dest=$1
	shift
	# shellcheck disable=SC2086
	without_git make_in "$SRC" -s install DESTDIR="$install_dest" $FAST "$@"
}

uninstall_from() {
	install_dest=$1
	shift
	without_git make_in "$SRC" -s uninstall DESTDIR="$install_dest" "$@"
}

# files <dir>: everything below it except directories
files() {
	(cd "$1" && find . ! -type d | sed 's/^\.//' | LC_ALL=C sort)
}

# installed_files <prefix> <zsh> <fish> <fish conf>: what has to be there
installed_files() {
	{
		printf "$1/%s\n" bin/git-checkpoint share/git-checkpoint/installed \
			share/bash-completion/completions/git-checkpoint lib/systemd/user/git-checkpoint-watch.service
		echo "$2/_git-checkpoint"
		echo "$3/git-checkpoint.fish"
		echo "$4/git-checkpoint.fish"
		(cd "$ROOT_DIR/man" && printf "$1/share/man/man1/%s\n" ./*.1 | sed 's|/\./|/|')
		(cd "$ROOT_DIR/man" && printf "$1/share/man/man5/%s\n" ./*.5 | sed 's|/\./|/|')
		(cd "$ROOT_DIR/man" && printf "$1/share/man/man7/%s\n" ./*.7 | sed 's|/\./|/|')
	} | LC_ALL=C sort
}

# works <program>: it runs, by itself and through git, and finds what belongs to it
works() {
	mkdir -p "$T/project"
	(
		PATH=$(dirname "$1"):$TOOLS
		cd "$T/project"
		git init -q
		echo 1 >file
		git checkpoint save -q
		git checkpoint hooks install --guard >/dev/null
		expect_exists .git/hooks/pre-rebase
		echo 2 >file
		git checkpoint restore -q --yes @
		expect_eq 1 "$(cat file)"
		git checkpoint hooks uninstall >/dev/null
	)
	rm -r "$T/project"
}

# ---- tarball ---------------------------------------------------------------------

test_the_tarball_is_the_same_each_time() {
	test -e "$ROOT_DIR/.git" || skip 'needs a clone'
	REV=$(git -C "$ROOT_DIR" rev-parse HEAD)
	for n in 1 2; do
		make_in "$ROOT_DIR" -s dist BUILD="$T/$n" REV="$REV" >/dev/null 2>&1
	done
	(cd "$T/1" && ls -A) >first
	(cd "$T/2" && ls -A) >second
	expect_eq 1 "$(wc -l <first)" 'files'
	expect_same first second
	cmp "$T/1/$(cat first)" "$T/2/$(cat first)"
	expect_grep '^git-checkpoint-[0-9].*\.tar\.gz$' first
	# one directory, and only what belongs to the sources, readable by all
	tar -tvzf "$T/1/$(cat first)" >list
	expect_eq '' "$(awk '$6 !~ "^git-checkpoint-[^/]*/"' list)" 'files beside the directory'
	expect_eq '' "$(grep -v -e '^-rw-r--r-- ' -e '^[-d]rwxr-xr-x ' -e '^l.*/man/[^/]* -> [^/]*$' list)" \
		'odd modes'
	expect_no_grep '/build/' list
}

test_a_commit_that_is_not_there_is_named() {
	test -e "$ROOT_DIR/.git" || skip 'needs a clone'
	expect_exit 2 make_in "$ROOT_DIR" -s dist BUILD="$T/b" REV=nonsense 2>err
	expect_grep "no commit 'nonsense'" err
}

test_the_tarball_builds_without_git() {
	build_sources
	if command -v git >/dev/null && test -e "$ROOT_DIR/.git"; then
		expect_exists "$SRC/.version"
		expect_missing "$SRC/.git"
		expect_eq "git-checkpoint version $(cat "$SRC/.version")" \
			"$("$SRC/build/git-checkpoint" --version)"
	fi
	expect_exit 127 without_git sh -c 'git --version' 2>/dev/null
	# what is unpacked in somebody's repository has no version of that
	git init -q "$T/other"
	(cd "$T/other" && git commit -q --allow-empty -m 1 && git tag v9.9)
	cp -R "$SRC" "$T/other/in"
	make_in "$T/other/in" -s --eval 'tell: ; @echo $(VERSION)' tell >version
	expect_eq "git-checkpoint version $(cat version)" "$("$SRC/build/git-checkpoint" --version)"
}

# With another version all that has it would be compiled again, by root, in that user's clone.
test_root_finds_the_version_of_what_another_user_has_built() {
	test -e "$ROOT_DIR/.git" || skip 'needs a clone'
	test "$(id -u)" = 0 || skip 'needs root'
	git clone -q "$ROOT_DIR" clone
	cp "$ROOT_DIR/Makefile" clone
	make_in clone -s --eval 'tell: ; @echo $(VERSION)' tell >mine
	give_to_nobody clone
	expect_exit 128 git -C clone status 2>/dev/null
	make_in clone -s --eval 'tell: ; @echo $(VERSION)' tell >theirs
	expect_same mine theirs
}

test_a_tarball_of_a_tarball_is_refused() {
	build_sources
	expect_exit 2 make_in "$SRC" -s dist 2>err
	expect_grep 'make dist needs a clone' err
}

# ---- install, uninstall ----------------------------------------------------------

test_everything_is_installed_where_it_belongs() {
	build_sources
	install_to "$T/usr" PREFIX=/usr
	zsh=/usr/share/zsh/site-functions
	test ! -e /etc/debian_version || zsh=/usr/share/zsh/vendor-completions
	installed_files /usr $zsh /usr/share/fish/vendor_completions.d \
		/usr/share/fish/vendor_conf.d >expected
	files "$T/usr" >actual
	expect_same expected actual
	expect_grep '^ExecStart="/usr/bin/git-checkpoint" watch run$' "$T/usr/usr/lib/systemd/user/git-checkpoint-watch.service"

	install_to "$T/local"
	fish=/usr/local/share/fish/vendor_
	test ! -d /etc/fish || fish=/etc/fish/
	suffix=$(test "$fish" = /etc/fish/ || echo .d)
	installed_files /usr/local /usr/local/share/zsh/site-functions "${fish}completions$suffix" \
		"${fish}conf.d" >expected
	files "$T/local" >actual
	expect_same expected actual

	works "$T/usr/usr/bin/git-checkpoint"
	works "$T/local/usr/local/bin/git-checkpoint"
}

# The shells of this machine read those directories, in an environment that says nothing.
test_the_shells_look_there() {
	build_sources
	install_to "$T/usr" PREFIX=/usr
	install_to "$T/local"
	for dest in "$T/usr" "$T/local"; do
		if command -v zsh >/dev/null; then
			# shellcheck disable=SC2016
			env -i zsh -f -c 'print -l $fpath' >fpath
			expect_grep "^$(files "$dest" | sed -n 's|/_git-checkpoint$||p')\$" fpath
		fi
		if command -v fish >/dev/null; then
			# shellcheck disable=SC2016
			env -i HOME="$HOME" fish -c 'printf "%s\n" $fish_complete_path \
				$__fish_sysconf_dir/conf.d $__fish_vendor_confdirs' >paths
			expect_eq 2 "$(files "$dest" | sed -n 's|/git-checkpoint.fish$||p' |
				grep -c -x -F -f paths)" 'directories that fish reads'
		fi
	done
	require bash
	test -e /usr/share/bash-completion/completions/git || skip 'needs the completion of git'
	for share in "$T/usr/usr/share" "$T/local/usr/local/share"; do
		for line in 'git checkpoint rel' 'git-checkpoint rel'; do
			expect_eq 'relink ' "$(XDG_DATA_DIRS=$share:/usr/share \
				"$LIB_DIR/complete-bash.sh" "$line")"
		done
	done
}

test_man_finds_the_pages_beside_the_program() {
	require man
	build_sources
	install_to "$T/dest" PREFIX=/opt/checkpoint
	PATH=$T/dest/opt/checkpoint/bin:$TOOLS
	unset MANPATH
	for how in 'git checkpoint --help' 'git help checkpoint'; do
		MANPAGER='cat' $how >out 2>err
		expect_grep 'save and restore the state of a working directory' out
	done
	for how in 'git checkpoint help undo' 'git checkpoint undo --help'; do
		MANPAGER='cat' $how >out 2>err
		expect_grep '^ *git-checkpoint-restore, git-checkpoint-undo, ' out
	done
	man -w git-checkpoint-format >out
}

test_a_place_with_blanks() {
	build_sources
	for prefix in '/opt/with a blank' /opt/with/äöü; do
		install_to "$T/a dest" PREFIX="$prefix"
		installed_files "$prefix" "$prefix/share/zsh/site-functions" \
			"$prefix/share/fish/vendor_completions.d" "$prefix/share/fish/vendor_conf.d" >expected
		files "$T/a dest" >actual
		expect_same expected actual
		works "$T/a dest$prefix/bin/git-checkpoint"
		uninstall_from "$T/a dest" PREFIX="$prefix"
		expect_eq '' "$(find "$T/a dest" -mindepth 1)" 'left behind'
	done
}

test_uninstalling_leaves_what_was_there_before() {
	build_sources
	dest=$T/dest
	mkdir -p "$dest/usr/local/bin" "$dest/usr/local/share/man/man1" "$dest/usr/local/share/zsh"
	echo other >"$dest/usr/local/share/man/man1/other.1"
	(cd "$dest" && find . | sort) >before
	install_to "$dest"
	# again, as with a new version that has a file less
	echo /usr/local/share/man/man8/git-checkpoint-old.8 >>"$dest/usr/local/share/git-checkpoint/installed"
	echo /usr/local/share/man/man8/ >>"$dest/usr/local/share/git-checkpoint/installed"
	mkdir "$dest/usr/local/share/man/man8"
	: >"$dest/usr/local/share/man/man8/git-checkpoint-old.8"
	install_to "$dest"
	# somebody else uses a directory that we made
	: >"$dest/usr/local/share/man/man5/other.5"
	uninstall_from "$dest"
	rm "$dest/usr/local/share/man/man5/other.5"
	rmdir "$dest/usr/local/share/man/man5"
	(cd "$dest" && find . | sort) >after
	expect_same before after
	uninstall_from "$dest" >out
	expect_grep 'nothing is installed' out
}

# A copy of an installation has the list of the original.
test_uninstalling_a_copy_leaves_the_original() {
	build_sources
	install_to '' PREFIX="$T/a"
	# as an earlier version noted it
	sed -e "s|^\./\$|$T/a/|" -e "s|^[^/]|$T/a/&|" "$T/a/share/git-checkpoint/installed" >old
	files "$T/a" >before
	for list in "$T/a/share/git-checkpoint/installed" old; do
		cp -a "$T/a" "$T/b"
		cat "$list" >"$T/b/share/git-checkpoint/installed.new"
		mv "$T/b/share/git-checkpoint/installed.new" "$T/b/share/git-checkpoint/installed"
		uninstall_from '' PREFIX="$T/b"
		files "$T/a" >after
		expect_same before after
		test "$list" = old || expect_missing "$T/b"
		rm -rf "$T/b"
	done
	cp old "$T/a/share/git-checkpoint/installed"
	uninstall_from '' PREFIX="$T/a"
	expect_missing "$T/a"
}

# `make` by somebody, `sudo make install` after it, wherever to.
test_installing_compiles_nothing_again() {
	build_sources
	cp -a "$SRC" "$T/tree"
	find "$T/tree" -exec touch -h -d 2020-01-01 {} +
	give_to_nobody "$T/tree"
	for prefix in /usr/local /usr '/opt/a b'; do
		# shellcheck disable=SC2086
		without_git make_in "$T/tree" install DESTDIR="$T/dest" PREFIX="$prefix" $FAST >out
		expect_eq '' "$(cat out)"
		expect_eq '' "$(find "$T/tree" -newermt 2020-01-02)" 'written by make install'
		test "$(id -u)" != 0 || expect_eq '' "$(find "$T/tree" -user root)" "root's files"
	done
	# a place that cannot be found from the program's is compiled in
	# shellcheck disable=SC2086
	without_git make_in "$T/tree" -s install DESTDIR="$T/odd" BINDIR=/opt/programs SHAREDIR=/srv/shared $FAST
	expect_grep '/srv/shared/git-checkpoint' "$T/odd/opt/programs/git-checkpoint"
}

test_what_is_installed_is_for_all() {
	build_sources
	(
		umask 077
		install_to "$T/dest" PREFIX=/usr
	)
	expect_eq '' "$(find "$T/dest/usr" -type d ! -perm 755 -o -type f ! -perm 644 ! -perm 755)" \
		'odd modes'
	expect_eq '' "$(find "$T/dest/usr" -type f -perm 755 ! -path '*/bin/*')"
}

# ---- package ---------------------------------------------------------------------

# build_deb <dir>: prints the path of the package
build_deb() {
	# shellcheck disable=SC2086
	without_git make_in "$SRC" -s deb $FAST BUILD=build >"$T/deb.out" 2>&1 || {
		cat "$T/deb.out" >&2
		fail 'make deb failed' >&2
	}
	mv "$SRC/$(tail -n 1 "$T/deb.out")" "$1"
	echo "$1/$(basename "$(tail -n 1 "$T/deb.out")")"
}

# A root in which all packages of this machine are installed, in name.
new_dpkg_root() {
	mkdir -p "$T/root/var/lib/dpkg/info" "$T/root/var/lib/dpkg/updates" "$T/root/var/lib/dpkg/triggers"
	cp /var/lib/dpkg/status "$T/root/var/lib/dpkg/status"
	: >"$T/root/var/lib/dpkg/available"
}

dpkg_there() {
	dpkg --root="$T/root" --log="$T/dpkg.log" --force-not-root --force-bad-path "$@" 2>"$T/dpkg.err" || {
		grep -v 'files list file for package' "$T/dpkg.err"
		fail "dpkg $*"
	}
}

test_the_package_is_the_same_each_time() {
	require dpkg dpkg-deb dpkg-shlibdeps dpkg-buildflags
	build_sources
	mkdir "$T/1" "$T/2"
	first=$(build_deb "$T/1")
	second=$(build_deb "$T/2")
	expect_eq "$(basename "$first")" "$(basename "$second")"
	cmp "$first" "$second"
}

test_the_package_has_what_debian_wants() {
	require dpkg dpkg-deb dpkg-shlibdeps dpkg-buildflags
	build_sources
	deb=$(build_deb "$T")
	version=$(dpkg-deb -f "$deb" Version)
	dpkg --validate-version "$version"
	case $version in
	*-*) fail "'$version' has a revision" ;;
	esac
	expect_eq "git-checkpoint_${version}_$(dpkg --print-architecture).deb" "$(basename "$deb")"
	dpkg-deb -f "$deb" Depends >depends
	for word in git libc6 libgit2 libjansson libssl; do
		expect_grep "\\(^\\|, \\)$word" depends
	done
	dpkg-deb -x "$deb" x
	dpkg-deb -c "$deb" >list
	expect_eq '' "$(awk '$2 != "root/root"' list)" 'files of somebody'
	{
		installed_files /usr /usr/share/zsh/vendor-completions /usr/share/fish/vendor_completions.d \
			/usr/share/fish/vendor_conf.d | sed 's|\(/man/man./.*\)|\1.gz|' |
			grep -v '/installed$'
		printf '/usr/share/doc/git-checkpoint/%s\n' README.md.gz changelog.gz copyright
	} | LC_ALL=C sort >expected
	files x >actual
	expect_same expected actual
	(cd x && dpkg-deb -I "$deb" md5sums | md5sum --quiet -c)
	# nothing of where it was built
	expect_no_grep "$SRC" x/usr/bin/git-checkpoint
	zcat x/usr/share/doc/git-checkpoint/changelog.gz >changelog
	expect_eq "git-checkpoint ($version) unstable; urgency=medium" "$(sed -n 1p changelog)"
	dpkg-parsechangelog -l changelog >/dev/null
}

test_the_package_installs_works_and_purges() {
	require dpkg dpkg-deb dpkg-shlibdeps dpkg-buildflags
	build_sources
	deb=$(build_deb "$T")
	new_dpkg_root
	(cd "$T/root" && find . ! -path './var/lib/dpkg/*' | sort) >before
	dpkg_there -i "$deb" >/dev/null
	expect_eq 'install ok installed' "$(dpkg-query --admindir="$T/root/var/lib/dpkg" \
		-W -f '${Status}' git-checkpoint)"
	works "$T/root/usr/bin/git-checkpoint"
	# as an upgrade does it
	dpkg_there -i "$deb" >/dev/null
	works "$T/root/usr/bin/git-checkpoint"
	dpkg_there -r git-checkpoint >/dev/null
	dpkg_there -P git-checkpoint >/dev/null 2>&1
	(cd "$T/root" && find . ! -path './var/lib/dpkg/*' | sort) >after
	expect_same before after
	expect_eq '' "$(find "$T/root/var/lib/dpkg/info" -name 'git-checkpoint*')"
}

test_versions_are_in_the_order_of_time() {
	require dpkg
	# version <of ours> <time>: that of the package
	version() {
		sed -n '/^stamp=/p; /^version=/p' "$ROOT_DIR/.debian/build" >"$T/rule"
		# shellcheck disable=SC2034,SC1091
		(
			VERSION=$1 SOURCE_DATE_EPOCH=$2
			. "$T/rule"
			# shellcheck disable=SC2154
			echo "$version"
		)
	}
	before=0
	for row in '0.1.0-gffffff0 1000000000' '0.1.0-g1111111 1100000000' \
		'0.1.0-g1111111-dirty 1100000000' '0.1.0 1200000000' '0.1.0-2-gfffffff 1300000000' \
		'0.1.0-10-g0000000 1400000000' '0.1.1 1500000000'; do
		# shellcheck disable=SC2086
		now=$(version $row)
		dpkg --validate-version "$now"
		dpkg --compare-versions "$before" lt "$now" || fail "$before is not before $now"
		before=$now
	done
}

run_tests
