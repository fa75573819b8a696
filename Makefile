# SPDX-License-Identifier: MIT
#
# make                  build the program
# make build-deps       install the packages needed to build
# make deps             install these and the packages needed to test
# make check            unit and command line tests
# make check-quick      the tests that find most mistakes, in less than a minute
# make coverage         how much of each folder the tests of `make check` run
# make check-all        all tests, also under the sanitizers
# make check-install    install, use and remove it below another PREFIX
# make lint             warnings as errors with gcc and clang, shellcheck, mandoc, layers, sizes
# make bench            compare the speed with stock git's
# make picture          make the terminal at the top of the README, from a real run
# make install          honours PREFIX, DESTDIR and the directories below
# make uninstall        remove what it installed
# make deb              a Debian package, in BUILD
# make dist             the source of REV (HEAD) as a tarball, in BUILD
#
# tests/README.md has those that attack the program for as long as one likes.
#
# V=1 shows the commands, WERROR=1 turns warnings into errors, SAN=address,undefined or
# SAN=thread builds with sanitizers, in another directory. TEST_GIT=<dir> tests with the git in
# that directory instead of the system's.

.SUFFIXES:
.DELETE_ON_ERROR:

all:

# ---- Settings of the caller ------------------------------------------------------

PREFIX      ?= /usr/local
BINDIR      ?= $(PREFIX)/bin
SHAREDIR    ?= $(PREFIX)/share
MANDIR      ?= $(SHAREDIR)/man
DESTDIR     ?=

# The zsh of Debian reads no site-functions below /usr; fish reads /usr/local only if
# XDG_DATA_DIRS says so, but always what the administrator has in /etc.
zsh_dir  := $(if $(and $(filter /usr,$(PREFIX)),$(wildcard /etc/debian_version)),vendor-completions,site-functions)
fish_etc := $(and $(filter /usr/local,$(PREFIX)),$(wildcard /etc/fish))

BASHCOMPDIR ?= $(SHAREDIR)/bash-completion/completions
ZSHCOMPDIR  ?= $(SHAREDIR)/zsh/$(zsh_dir)
FISHCOMPDIR ?= $(if $(fish_etc),/etc/fish/completions,$(SHAREDIR)/fish/vendor_completions.d)
UNITDIR     ?= $(PREFIX)/lib/systemd/user
FISHCONFDIR ?= $(if $(fish_etc),/etc/fish/conf.d,$(SHAREDIR)/fish/vendor_conf.d)

CFLAGS      ?= $(if $(SAN)$(COVERAGE),-O1,-O2) -g
CPPFLAGS    ?=
LDFLAGS     ?=
PKG_CONFIG  ?= pkg-config
INSTALL     ?= install
PROVE       ?= prove
# Many tests wait for something.
PROVE_JOBS  ?= $(shell expr 2 + "$$(nproc)")

SAN         ?=
COVERAGE    ?=
WERROR      ?=
V           ?=

comma := ,
# BUILD is where everything is built; builds with sanitizers go beside it.
BUILD ?= build
OUT   := $(BUILD)$(if $(SAN),-$(subst $(comma),-,$(SAN)))$(if $(COVERAGE),-coverage)

# ---- Sources ---------------------------------------------------------------------

# Each folder of lib/ is a capability; lib/README.md says which uses which.
LIB  := $(sort $(wildcard lib/*/*.c))
MAIN := git-checkpoint.c

UNITS := $(sort $(wildcard tests/unit/test_*.c))
# Those to be run.
UNIT ?= $(UNITS)
FUZZ := $(sort $(wildcard tests/fuzz/fuzz_*.c))

AGENTS   := man/git-checkpoint-agents.md
# What is known of each coding agent, and plugins for some.
AGENT_FILES := $(sort $(filter-out %.c %.h,$(wildcard lib/agents/*)))
MAN1     := $(wildcard man/*.1)
MAN5     := $(wildcard man/*.5)
MAN7     := $(wildcard man/*.7)
HOOKS    := $(wildcard hooks/*)
BASHCOMP := $(wildcard completion/git-checkpoint.bash)
ZSHCOMP  := $(wildcard completion/_git-checkpoint)
FISHCOMP := $(wildcard completion/git-checkpoint.fish)
FISHCONF := $(wildcard completion/git-checkpoint.conf.fish)
UNIT_FILE := lib/watch/git-checkpoint-watch.service
SCRIPTS  := .ci/run .debian/build .debian/deps $(HOOKS) $(BASHCOMP) \
            $(wildcard $(patsubst %,tests/%/*.sh,lib cli/* fault crash fuzz random install bench peer soak picture mcp))

# ---- Libraries -------------------------------------------------------------------

LIBS := inih libdeflate zlib jansson
# Loaded on demand (lib/base/libgit2.h, lib/base/hash.c); a test may be linked with them.
LOADED := libgit2 libcrypto

# Only compiling needs them: `make build-deps` must work before they are installed.
ifneq ($(filter-out build-deps deps clean uninstall dist,$(or $(MAKECMDGOALS),all)),)
ifneq ($(shell $(PKG_CONFIG) --exists $(LIBS) $(LOADED) && echo ok),ok)
$(error Not all libraries were found ($(LIBS) $(LOADED)): try 'make build-deps')
endif
LIB_CFLAGS    := $(shell $(PKG_CONFIG) --cflags $(LIBS) $(LOADED))
LIB_LIBS      := $(shell $(PKG_CONFIG) --libs $(LIBS)) -ldl
LOADED_LIBS    = $(shell $(PKG_CONFIG) --libs $(LOADED))
# Asked once, and only by who needs it.
CMOCKA_CFLAGS  = $(eval CMOCKA_CFLAGS := $(call cmocka,--cflags))$(CMOCKA_CFLAGS)
CMOCKA_LIBS    = $(call cmocka,--libs)
cmocka         = $(if $(shell $(PKG_CONFIG) --exists cmocka && echo ok),$(shell $(PKG_CONFIG) $(1) cmocka),\
                 $(error cmocka was not found: try 'make deps'))
endif

# ---- Flags that the caller must not change ---------------------------------------

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wno-missing-field-initializers $(if $(WERROR),-Werror)
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer) \
            $(if $(COVERAGE),--coverage -fprofile-update=atomic)

BASE_CPPFLAGS := -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Ilib
BASE_CFLAGS   := -std=c11 $(WARNINGS) -pthread
DEPFLAGS       = -MMD -MP -MF $(@:%=%.d)

COMPILE = $(CC) $(BASE_CPPFLAGS) $(CPPFLAGS) $(LIB_CFLAGS) $(BASE_CFLAGS) $(SANFLAGS) $(CFLAGS) $(DEPFLAGS)
LINK    = $(CC) $(BASE_CFLAGS) $(SANFLAGS) $(CFLAGS) $(LDFLAGS)

# Test helpers are never instrumented: they are loaded into, or time, other programs.
COMPILE_HELPER = $(CC) $(BASE_CPPFLAGS) $(CPPFLAGS) $(BASE_CFLAGS) $(CFLAGS) $(DEPFLAGS) $(LDFLAGS)

# quiet: $(call say,WHAT,file) shows one line per step unless V=1
Q   := $(if $(V),,@)
say  = $(if $(V),,@printf '  %-7s %s\n' '$(1)' '$(2)')

# ---- Program ---------------------------------------------------------------------

PROGRAM  := $(OUT)/git-checkpoint
ARCHIVE  := $(OUT)/libcheckpoint.a
LIB_OBJ  := $(LIB:%.c=$(OUT)/%.o) $(OUT)/agents_text.o $(OUT)/agents_files.o $(OUT)/shims.o
MAIN_OBJ := $(MAIN:%.c=$(OUT)/%.o)

all: $(PROGRAM)

$(PROGRAM): $(MAIN_OBJ) $(ARCHIVE)
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $^ $(LIB_LIBS)

# Built from scratch each time, so that no member stays whose source is gone.
$(ARCHIVE): $(LIB_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(OUT)/%.o: %.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(COMPILE) -c -o $@ $<

# Texts become strings, so that the program depends on no file: that of `help agents`, what is known
# of each agent, and the scripts that git runs as hooks, each with what all of them need.
as_string = sed -e 's/[\\"?]/\\&/g' -e 's/.*/"&\\n"/' $(1)

$(OUT)/agents_text.c: $(AGENTS)
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D)
	$(Q){ echo '#include "cmd/cmd.h"'; echo 'const char cmd_agents_text[] ='; \
		$(call as_string,$<); echo ';'; } >$@

# The folder, too, since a file may go.
$(OUT)/agents_files.c: $(AGENT_FILES) lib/agents
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D)
	$(Q){ echo '#include "agents/agents_internal.h"'; echo 'const struct agents_file agents_files[] = {'; \
		for file in $(AGENT_FILES); do echo "{ \"$${file##*/}\","; $(call as_string,$$file); echo '},'; done; \
		echo '{ NULL, NULL } };'; } >$@

SHIMS := $(filter-out hooks/bounded,$(HOOKS))
$(OUT)/shims.c: $(HOOKS) Makefile
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D)
	$(Q){ echo '#include "hooks/install_internal.h"'; echo 'const struct install_shim install_shims[] = {'; \
		for file in $(SHIMS); do echo "{ \"$${file##*/}\","; \
			sed -e '/^# @bounded$$/{r hooks/bounded' -e 'd' -e '}' $$file | $(call as_string); echo '},'; done; \
		echo '{ NULL, NULL } };'; } >$@

$(OUT)/agents_text.o $(OUT)/agents_files.o $(OUT)/shims.o: %.o: %.c
	$(call say,CC,$<)
	$(Q)$(COMPILE) -c -o $@ $<

# ---- Version ---------------------------------------------------------------------

# The number of the next release, followed by the commit if there is one: a tarball unpacked
# inside another repository must not name that repository's commit; it has a file .version
# instead. Root, installing what another user built, reads that user's clone.
BASE_VERSION := 0.1.0
version_of = GIT_OPTIONAL_LOCKS=0 git -c safe.directory='*' describe --always $(1) 2>/dev/null | \
	sed -e 's/^v//' -e '/[.]/!s/^/$(BASE_VERSION)-g/'
VERSION := $(or $(shell cat .version 2>/dev/null),$(shell test -e .git && $(call version_of,--dirty)),$(BASE_VERSION))

$(MAIN_OBJ): BASE_CPPFLAGS += -DCKPT_VERSION='"$(VERSION)"'
$(MAIN_OBJ): $(OUT)/version

$(OUT)/version: FORCE
	@mkdir -p $(@D)
	@echo '$(VERSION)' | cmp -s - $@ || echo '$(VERSION)' >$@

FORCE:

# ---- Tests -----------------------------------------------------------------------

UNIT_BIN := $(UNIT:%.c=$(OUT)/%)
FUZZ_BIN := $(FUZZ:%.c=$(OUT)/%)
# Programs that tests use; the fragments of the Makefile in tests/ add theirs.
HELPERS  :=
# What builds them, what runs for longer than `make check`, and lists of scripts.
include $(wildcard tests/*/Makefile)

# The seed of all random choices of the tests: TEST_SEED=<n> repeats those of an earlier run.
TEST_SEED := $(or $(TEST_SEED),$(shell date +%s))

# A sanitizer's report must not look like an exit code of the program.
TEST_ENV = BUILD_DIR='$(abspath $(OUT))' TEST_FAILURES='$(abspath $(OUT))/failures' \
	TEST_SEED='$(TEST_SEED)' $(if $(TEST_GIT),TEST_GIT='$(abspath $(TEST_GIT))') \
	CMOCKA_MESSAGE_OUTPUT=TAP \
	ASAN_OPTIONS=exitcode=99:detect_leaks=1:detect_stack_use_after_return=1 \
	LSAN_OPTIONS=exitcode=99 TSAN_OPTIONS=exitcode=99:halt_on_error=1 \
	UBSAN_OPTIONS=exitcode=99:print_stacktrace=1
# Repeat at the end what failed, and how: in a long log people look at the end.
RUN_TESTS = $(Q)run_tests() { \
		: >'$(OUT)/failures'; \
		echo 'TEST_SEED=$(TEST_SEED)'; \
		$(TEST_ENV) $(TEST_WRAP) $(PROVE) -j$(PROVE_JOBS) $(if $(V),--verbose) \
			--exec tests/lib/hermetic.sh "$$@" || \
			{ cat '$(OUT)/failures' >&2; return 1; }; \
	}; run_tests

# Some kernels lay memory out in a way that the thread sanitizer cannot handle.
TEST_WRAP = $(if $(filter thread,$(SAN)),$(shell setarch -R true 2>/dev/null && echo setarch -R))

check: $(PROGRAM) $(UNIT_BIN) $(HELPERS) $(FUZZ_BIN)
	$(RUN_TESTS) tests/random/t-random.sh tests/random/t-twin.sh tests/random/t-hunks.sh \
		tests/random/t-foreign.sh tests/random/t-watch-random.sh $(UNIT_BIN) $(CLI) tests/fuzz/t-corpus.sh

# For contributors: less than a minute on two processors.
check-quick: $(PROGRAM) $(UNIT_BIN) $(HELPERS)
	$(RUN_TESTS) $(filter-out $(LONG_UNIT),$(UNIT_BIN)) $(QUICK_CLI)

check-unit: $(PROGRAM) $(UNIT_BIN) $(HELPERS)
	$(RUN_TESTS) $(UNIT_BIN)

check-cli: $(PROGRAM) $(HELPERS)
	$(RUN_TESTS) $(CLI)

# What check-all runs when built with SAN=address,undefined and SAN=thread.
check-memory: $(PROGRAM) $(UNIT_BIN) $(HELPERS) $(FUZZ_BIN)
	$(RUN_TESTS) $(UNIT_BIN) $(SAN_CLI) tests/fuzz/t-corpus.sh

check-threads: $(PROGRAM) $(TSAN_UNIT:tests/unit/%.c=$(OUT)/tests/unit/%) $(HELPERS)
	$(RUN_TESTS) $(TSAN_UNIT:tests/unit/%.c=$(OUT)/tests/unit/%) $(TSAN_CLI)

# Compile with all processors, unless the caller said how many.
SUBMAKE = +$(Q)$(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(PROVE_JOBS))

check-all:
	$(SUBMAKE) SAN= check
	$(SUBMAKE) SAN=address,undefined check-memory
	$(SUBMAKE) SAN=thread check-threads
	$(SUBMAKE) SAN= check-install

# In a copy of the sources: `make install` builds the program again, for another place.
check-install: $(PROGRAM)
	$(RUN_TESTS) tests/install/t-install.sh

# ---- Lint ------------------------------------------------------------------------

LINT_BUILD = $(MAKE) --no-print-directory SAN= WERROR=1

lint:
	$(call say,LINT,sizes)
	$(Q)tests/lib/check-sizes.sh .
	$(call say,LINT,words)
	$(Q)tests/lib/check-words.sh .
	$(call say,LINT,scripts)
	$(Q)printf '%s\n' $(SCRIPTS) | xargs -n 16 -P "$$(nproc)" shellcheck -x -P SCRIPTDIR -S warning
	$(call say,LINT,manual)
	$(Q)mandoc -T lint -W warning $(MAN1) $(MAN5) $(MAN7)
	$(call say,LINT,gcc)
	+$(Q)$(LINT_BUILD) BUILD=$(BUILD)-lint-gcc CC=gcc lint-build
	$(call say,LINT,layers)
	$(Q)tests/lib/check-layers.sh . $(BUILD)-lint-gcc
	$(call say,LINT,clang)
	$(Q)printf '%s\n' $(MAIN) $(LIB) $(UNITS) $(FUZZ) | xargs -n 8 -P "$$(nproc)" \
		clang $(BASE_CPPFLAGS) $(CPPFLAGS) $(LIB_CFLAGS) $(CMOCKA_CFLAGS) $(BASE_CFLAGS) \
		-DCKPT_VERSION='""' -Werror -fsyntax-only
	$(call say,LINT,cppcheck)
	$(Q)if command -v cppcheck >/dev/null; then \
		cppcheck -j "$$(nproc)" --quiet --error-exitcode=1 --inline-suppr --enable=warning,portability \
			--suppress=missingIncludeSystem -D_GNU_SOURCE -Ilib $(wildcard $(MAIN)) lib; \
	fi

lint-build: $(PROGRAM) $(UNIT_BIN) $(HELPERS) $(FUZZ_BIN)

# ---- Install ---------------------------------------------------------------------

OWNDIR = $(SHAREDIR)/git-checkpoint

# What goes where: $(call each_file,<function>) calls it for each file, with mode, directory, name
# there, and file here.
define each_file
$(1) 755 '$(BINDIR)' git-checkpoint $(PROGRAM); \
$(foreach f,$(MAN1),$(1) 644 '$(MANDIR)/man1' $(notdir $(f)) $(f);) \
$(foreach f,$(MAN5),$(1) 644 '$(MANDIR)/man5' $(notdir $(f)) $(f);) \
$(foreach f,$(MAN7),$(1) 644 '$(MANDIR)/man7' $(notdir $(f)) $(f);) \
$(foreach f,$(BASHCOMP),$(1) 644 '$(BASHCOMPDIR)' git-checkpoint $(f);) \
$(foreach f,$(ZSHCOMP),$(1) 644 '$(ZSHCOMPDIR)' _git-checkpoint $(f);) \
$(foreach f,$(FISHCOMP),$(1) 644 '$(FISHCOMPDIR)' git-checkpoint.fish $(f);) \
$(foreach f,$(FISHCONF),$(1) 644 '$(FISHCONFDIR)' git-checkpoint.fish $(f);) \
$(1) 644 '$(UNITDIR)' $(notdir $(UNIT_FILE)) "$$unit";
endef

# Everything that is created, directories too, is listed in a file for `make uninstall`, so that it
# removes all that this or an earlier version installed, and no directory that belongs to others.
# Paths below PREFIX are listed relative to it, so that uninstalling a copy of an installation
# leaves the original alone; other paths are removed only if they are in a directory of this one.
INSTALLED = $(OWNDIR)/installed

# The unit names the program by its full path, which is known only here; nothing is written to BUILD,
# which may belong to somebody else.
install: $(PROGRAM)
	$(Q)set -e; umask 022; \
	list=$$(mktemp); unit=$$(mktemp); trap 'rm -f "$$list" "$$unit"' EXIT; \
	sed 's|@BINDIR@|$(BINDIR)|' $(UNIT_FILE) >"$$unit"; \
	make_dir() { \
		dir=$$1; \
		while test -n "$$dir" && test ! -d '$(DESTDIR)'"$$dir"; do \
			echo "$$dir/"; \
			case $$dir in */*) dir=$${dir%/*} ;; *) dir= ;; esac; \
		done >>"$$list"; \
		$(INSTALL) -d '$(DESTDIR)'"$$1"; \
	}; \
	put() { \
		make_dir "$$2"; \
		$(INSTALL) -m "$$1" "$$4" '$(DESTDIR)'"$$2/$$3"; \
		echo "$$2/$$3" >>"$$list"; \
	}; \
	make_dir '$(OWNDIR)'; \
	$(call each_file,put) \
	test ! -e '$(DESTDIR)$(INSTALLED)' || cat '$(DESTDIR)$(INSTALLED)' >>"$$list"; \
	awk -v prefix='$(PREFIX)/' 'index($$0, prefix) == 1 { $$0 = substr($$0, length(prefix) + 1) } \
		{ print $$0 == "" ? "./" : $$0 }' "$$list" | LC_ALL=C sort -u -o "$$list"; \
	$(INSTALL) -m 644 "$$list" '$(DESTDIR)$(INSTALLED)'

# quoted: $(call quoted,VARIABLES) is their values as words for the shell
quoted = $(foreach v,$(1),'$($(v))')

# Backwards: the contents of a directory come after it in the list.
uninstall:
	$(Q)list='$(DESTDIR)$(INSTALLED)'; \
	if test ! -e "$$list"; then \
		echo 'nothing is installed below $(DESTDIR)$(PREFIX)'; \
		exit 0; \
	fi; \
	ours() { \
		case $$1 in '$(PREFIX)'/*) return 0 ;; esac; \
		for dir in $(call quoted,BINDIR OWNDIR MANDIR BASHCOMPDIR ZSHCOMPDIR FISHCOMPDIR FISHCONFDIR UNITDIR); do \
			case $$dir/ in "$${1%/*}"/*) return 0 ;; esac; \
		done; \
		return 1; \
	}; \
	{ awk -v prefix='$(PREFIX)/' '$$0 == "./" { $$0 = "" } !/^\// { $$0 = prefix $$0 } 1' "$$list"; echo '$(INSTALLED)'; } | \
	LC_ALL=C sort -r -u | while IFS= read -r path; do \
		ours "$$path" || continue; \
		case $$path in \
		*/) rmdir '$(DESTDIR)'"$$path" 2>/dev/null || : ;; \
		*) rm -f '$(DESTDIR)'"$$path" || exit 1 ;; \
		esac; \
	done

# ---- Packages --------------------------------------------------------------------

REV ?= HEAD

# A copy of a commit, the same bytes each time; .version stands in for git there.
dist:
	$(Q)test -e .git || { echo 'make dist needs a clone: this is not a git repository' >&2; exit 1; }
	$(Q)set -e; mkdir -p $(BUILD); \
	commit=$$(git rev-parse --verify --quiet '$(REV)^{commit}') || { \
		echo "make dist: there is no commit '$(REV)'" >&2; exit 1; }; \
	git diff --quiet "$$commit" -- || echo 'note: what is not committed is not in the tarball' >&2; \
	version=$$($(call version_of,"$$commit")); \
	name=git-checkpoint-$$version; \
	echo "$$version" >$(BUILD)/.version; \
	git -c tar.umask=0022 archive --format=tar --prefix="$$name/" --add-file=$(BUILD)/.version \
		"$$commit" >"$(BUILD)/$$name.tar"; \
	rm $(BUILD)/.version; \
	gzip -9nf "$(BUILD)/$$name.tar"; \
	echo "$(BUILD)/$$name.tar.gz"

# Compiled with Debian's flags, in its own directory: make does not notice a change of flags.
DEB_BUILD ?= $(BUILD)-deb

deb:
	+$(Q)VERSION='$(VERSION)' .debian/build '$(MAKE)' '$(DEB_BUILD)' '$(BUILD)'

# ---- Dependencies ----------------------------------------------------------------

DEBIAN_BUILD := build-essential pkg-config git libgit2-dev libinih-dev libssl-dev \
                libdeflate-dev zlib1g-dev libjansson-dev
DEBIAN_TEST  := libcmocka-dev perl python3 jq faketime strace procps xxd lighttpd openssh-server openssh-client git-remote-gcrypt gpg-agent mandoc groff-base man-db shellcheck clang libclang-rt-14-dev \
                bash-completion zsh fish tmux fzf pre-commit git-lfs sqlite3 postgresql e2fsprogs mount xfsprogs btrfs-progs \
                bindfs ntfs-3g

build-deps: WANTED = $(DEBIAN_BUILD)
deps: WANTED = $(DEBIAN_BUILD) $(DEBIAN_TEST)

build-deps deps:
	@.debian/deps $(WANTED)

# ---- Housekeeping ----------------------------------------------------------------

clean:
	rm -rf $(BUILD) $(BUILD)-*

.PHONY: all build-deps deps check check-quick check-unit check-cli check-memory check-threads check-all \
	check-install lint lint-build install uninstall dist deb clean FORCE

-include $(LIB_OBJ:=.d) $(MAIN_OBJ:=.d) $(UNIT_OBJ:=.d) $(FUZZ_BIN:=.d) $(HELPERS:=.d)
