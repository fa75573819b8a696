#!/bin/sh
# SPDX-License-Identifier: MIT
# maxSize: the store keeps within it when a command returns.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/restore.sh"
. "$LIB_DIR/retain.sh"
. "$LIB_DIR/strides.sh"

id= # of the checkpoint that was saved last
gc= # see start_gc

GIT_CHECKPOINT_MAX_SIZE=10m
export GIT_CHECKPOINT_MAX_SIZE

within() {
	test "$(kilobytes)" -le "${1:-10240}" || fail "$(kilobytes) KB in use: $2"
	expect_eq '' "$(find "$(store_dir)" -name 'tmp_*')" 'litter'
}

test_sixty_megabytes_in_ten() {
	rounds=${CKPT_TEST_ROUNDS:-60}
	test "$rounds" != all || rounds=200
	n=0
	while test $n -lt "$rounds"; do
		n=$((n + 1))
		noise $((900000 + n * 3000)) >f$((n % 3))
		save -m $n
		within 10240 "step $n"
		test $((n % 10)) != 0 || git-checkpoint verify @ >"$T/out" ||
			fail "step $n: $(cat "$T/out")"
	done
	# as many as fit are there, the newest ones
	expect_eq "$(seq -s ' ' $((rounds - $(reasons | wc -w) + 1)) "$rounds")" "$(reasons)"
	test "$(reasons | wc -w)" -ge 6 || fail "only $(reasons) are left"
	logged evict >"$T/out"
	expect_eq 0 "$(grep -vc 'maxSize 10.5 MB$' "$T/out")"
	store_sound
	# the newest comes back
	note new
	rm f0 f1
	noise 1000 >f2
	restore @
	expect_noted new
	within 10240 restore
}

test_the_first_that_goes_is_told() {
	for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do
		noise 900000 >f
		git-checkpoint save -m $n >"$T/out" 2>"$T/err"
		! grep -q 'was removed' "$T/err" || break
	done
	expect_grep '(maxSize .*) was removed' "$T/err"
	test $n -lt 14
}

test_one_that_is_too_large_is_refused() {
	for n in 1 2 3; do
		noise 1000000 >f
		save -m $n
	done
	fingerprint_raw "$(store_dir)/refs" >"$T/refs.before"
	noise 11000000 >large
	restoring 128 save -m large
	expect_grep 'maxSize' "$T/restore.err"
	expect_grep 'raise maxSize' "$T/restore.err"
	expect_eq '1 2 3' "$(reasons)"
	fingerprint_raw "$(store_dir)/refs" >"$T/refs.after"
	expect_same "$T/refs.before" "$T/refs.after"
	within
	store_sound
	# in pieces it is no smaller
	rm large
	mkdir many
	n=0
	while test $n -lt 30; do
		n=$((n + 1))
		noise 400000 >many/$n
	done
	restoring 128 save -m many
	expect_eq '1 2 3' "$(reasons)"
	within
	store_sound
	rm -r many
	noise 1000000 >f
	save -m 4
	expect_eq '1 2 3 4' "$(reasons)"
}

test_the_first_one_may_be_too_large_too() {
	noise 11000000 >large
	restoring 128 save
	within 200
	rm large
	echo small >small
	save
	store_sound
}

# A little too much is noticed by other parts than far too much.
test_a_little_too_large() {
	noise 100000 >a
	limit=90 times=0
	until GIT_CHECKPOINT_MAX_SIZE=${limit}k git-checkpoint save -q 2>"$T/err"; do
		expect_grep '^fatal: the checkpoint does not fit into maxSize' "$T/err"
		GIT_CHECKPOINT_MAX_SIZE=${limit}k expect_exit 128 git-checkpoint save -q 2>"$T/err"
		limit=$((limit + 2)) times=$((times + 1))
		test $limit -lt 400 || fail 'it never fits'
	done
	test $times -gt 10 || fail "refused only $times times"
}

# What does compress is not judged by its size.
test_text_is_smaller_than_it_looks() {
	for n in 1 2 3; do
		noise 1000000 >f
		save -m $n
	done
	seq 4000000 | sed 's/$/ bottles of beer on the wall/' | head -c 30000000 >text
	save -m text
	within
	expect_eq '1 2 3 text' "$(reasons)"
	store_sound
}

# Neither touched files nor a lost stat cache push anything out.
test_what_is_there_already_needs_no_room() {
	for n in 1 2 3 4; do
		noise 2000000 >f$n
		save -m $n
	done
	touch -d '2020-01-01' f*
	save --automatic -m touched
	expect_eq '1 2 3 4' "$(reasons)"
	rm "$(store_dir)/checkpoint/statcache"
	touch f*
	save --automatic -m lost
	expect_eq '1 2 3 4' "$(reasons)"
	rm "$(store_dir)/checkpoint/statcache"
	echo new >new
	save -m new
	expect_eq '1 2 3 4 new' "$(reasons)"
	within
	store_sound
}

# The older one goes when the newer one is safe.
test_two_that_do_not_fit_together() {
	for n in 1 2 3; do
		noise 6000000 >f
		save -m $n
		within 10240 $n
		expect_eq $n "$(reasons)"
		git-checkpoint verify @
	done
	store_sound
}

# Contents that only an evicted one had are stored again.
test_contents_that_come_back() {
	noise 3000000 >"$T/old"
	cp "$T/old" f
	save -m old
	for n in 1 2; do
		noise 3000000 >f
		save -m $n
	done
	cp "$T/old" f
	echo x >x
	noise 1500000 >g
	save -m again
	expect_eq again "$(reasons | sed 's/.* //')"
	git-checkpoint verify --all
	git --git-dir="$(store_dir)" show latest:f >"$T/got"
	cmp "$T/old" "$T/got"
	within
	store_sound
}

test_expired_ones_go_first() {
	require faketime
	for n in 1 2 3; do
		noise 2500000 >f
		save -m $n
	done
	noise 2000000 >f
	save -m short --expires 1h
	noise 20000 >f
	save -m small
	noise 2000000 >f
	later +2h git-checkpoint save -q -m new
	expect_eq '1 2 3 small new' "$(reasons)"
	within
}

test_pinned_ones_stay() {
	noise 4000000 >f
	save -m 1 --pin
	noise 4000000 >f
	save -m 2
	noise 4000000 >f
	save -m 3
	expect_eq '1 3' "$(reasons)"
	git-checkpoint pin -q @
	noise 4000000 >f
	restoring 128 save -m 4
	expect_grep 'unpin' "$T/restore.err"
	expect_eq '1 3' "$(reasons)"
	git-checkpoint unpin -q @
	save -m 4
	expect_eq '1 4' "$(reasons)"
	within
	store_sound
}

test_a_restore_keeps_its_target() {
	for n in 1 2 3 4; do
		noise 2000000 >f
		save -m $n
		test $n != 1 || { note one && first=$id; }
	done
	noise 3500000 >f
	cp f "$T/unsaved"
	restore "$first"
	expect_noted one
	within
	# what had to go was not the target and not what undo needs
	expect_eq '1 4 pre-restore-safety' "$(reasons | sed 's/ [23]//g')"
	restoring 0 undo -y
	cmp f "$T/unsaved"
	within
	store_sound
}

# What undo leads to never goes for bytes: when it fills the store, the next one is refused.
test_undo_is_not_evicted() {
	noise 1000000 >f
	save --pin -m first
	note first
	for n in 1 2 3 4 5 6 7 8; do
		noise 1500000 >f
		cp f "$T/unsaved$n"
		status=0
		git-checkpoint restore -q --yes "$id" 2>"$T/err" || status=$?
		test $status = 0 || break
		expect_noted first
		within 10240 "round $n"
	done
	expect_eq 5 $status
	test "$n" -gt 4 || fail "refused in round $n"
	cmp f "$T/unsaved$n"
	expect_grep 'maxSize.* --force' "$T/err"
	# what is there already needs no room
	git checkpoint show "$id:f" >f
	while n=$((n - 1)) && test $n -gt 0; do
		restoring 0 undo -y
		cmp f "$T/unsaved$n"
		within 10240 undo
	done
	git checkpoint list --json >"$T/list"
	# shellcheck disable=SC2046 # words
	git checkpoint drop -q --force $(jq -r '.checkpoints[] | select(.pinned | not).id' "$T/list")
	noise 1500000 >f
	save -m last
	within
	store_sound
}

test_a_restore_without_room_is_refused() {
	noise 6000000 >f
	save -m 1
	noise 6000000 >f
	untouched restoring 5 restore -y @
	expect_grep 'maxSize' "$T/restore.err"
	expect_grep 'nothing was touched' "$T/restore.err"
	expect_eq 1 "$(reasons)"
	within
	store_sound
	no_litter
}

# A budget that was made smaller holds after the next save, also of nothing.
test_a_smaller_budget() {
	for n in 1 2 3 4 5; do
		noise 1500000 >f
		save -m $n
	done
	GIT_CHECKPOINT_MAX_SIZE=5m
	save
	within 5120
	expect_eq '3 4 5' "$(reasons)"
	store_sound
}

test_prune_to_a_size() {
	GIT_CHECKPOINT_MAX_SIZE=none
	for n in 1 2 3 4 5; do
		noise 1000000 >f
		save -m $n
	done
	restoring 0 prune -n --max-size 2500k
	expect_eq '1 2 3' "$(told_gone)"
	test "$(told .freed)" -ge 3000000
	restoring 0 prune --max-size 2500k
	expect_eq '1 2 3' "$(told_gone)"
	expect_eq 'maxSize 2.6 MB' "$(told '.removed[0].why')"
	test "$(told .freed)" -ge 3000000
	within 2500
	store_sound
	# as far as it goes
	restoring 0 prune --max-size 100k
	expect_eq 5 "$(reasons)"
	expect_grep 'still .* over the limit' "$T/restore.err"
	expect_exit 129 git-checkpoint prune --max-size 0 2>"$T/err"
	expect_exit 129 git-checkpoint prune --max-size x 2>"$T/err"
}

test_dropping_frees_bytes() {
	GIT_CHECKPOINT_MAX_SIZE=none
	echo base >base
	save -m base
	noise 5242880 >big
	save -m big
	rm big
	save -m after
	before=$(kilobytes)
	restoring 0 drop @~1
	after=$(kilobytes)
	test $((before - after)) -ge 5120 || fail "$before KB became $after KB"
	test "$(told .freed)" -ge 5242880
	store_sound
}

# Saves alone give back bytes, too, now and then.
test_evicted_ones_do_not_pile_up() {
	GIT_CHECKPOINT_MAX_SIZE=none
	export GIT_CHECKPOINT_MAX_COUNT=3
	n=0
	while test $n -lt 30; do
		n=$((n + 1))
		noise 200000 >f
		save -m $n
		# three that are kept, and less than twenty that were not yet looked for
		within 6000 "step $n"
	done
	expect_eq '28 29 30' "$(reasons)"
	store_sound
}

# Years of lines do not make it refuse; the origin of existing checkpoints is not forgotten.
test_the_audit_trail_keeps_within_its_part() {
	noise 1000000 >f
	save --pin -m first
	first=$id
	noise 1000000 >f
	save -m second
	log=$(store_dir)/checkpoint/log
	sed -n '1s/"id":"[^"]*"/"id":"chk_20200101_000000_000000"/p' "$log" >"$T/line"
	yes "$(cat "$T/line")" | head -n 40000 >>"$log"
	noise 1000000 >f
	save -m third
	within
	test "$(wc -c <"$log")" -le 700000 || fail "$(wc -c <"$log") bytes in the trail"
	expect_eq 'first second third' "$(reasons)"
	expect_eq "$id third" "$(logged save | tail -n 1)"
	expect_eq "$first first" "$(logged save | head -n 1)"
	store_sound
}

# What is let go while somebody packs cannot be freed: then gc gives up, not one checkpoint after the other.
test_gc_makes_way_for_the_budget() {
	for n in 1 2 3 4 5 6 7 8; do
		noise 1000000 >f$((n % 2))
		save -m $n
	done
	mkdir "$T/bin"
	cat >"$T/bin/git" <<-'END'
	#!/bin/sh
	touch "$T/packing"
	head -c 3000000 /dev/zero >"$(find "$T" -type d -path '*/checkpoint/gc')/pack"
	exec sleep 100
	END
	start_gc
	for n in 9 10 11; do
		noise 1000000 >f$((n % 2))
		save -m $n
		within 10240 "step $n"
	done
	wait "$gc" || fail "gc: $(cat "$T/gc.json" "$T/gc.err")"
	expect_grep 'not everything was packed.*needed the space' "$T/gc.json"
	# as if there had been no gc
	test "$(reasons | wc -w)" -ge 7 || fail "only $(reasons) are left"
	expect_missing "$(store_dir)/checkpoint/gc" "$(store_dir)/checkpoint/gc.yield"
	store_sound
}

# What is damaged might need anything: then nothing is evicted in vain.
test_damage_evicts_nothing() {
	for n in 1 2 3 4; do
		noise 2000000 >f
		save -m $n
	done
	second=$(git-checkpoint list --json | jq -r '.checkpoints[2].id')
	: >"$(store_dir)/refs/checkpoints/$second"
	noise 3000000 >f
	restoring 128 save -m 5
	expect_grep 'doctor' "$T/restore.err"
	expect_eq '1 3 4' "$(reasons 2>/dev/null)"
	git-checkpoint drop -q "$second"
	save -m 5
	within
	store_sound
}

# A kill at any call leaves the budget as it was or the checkpoint saved.
test_kill_while_room_is_made() {
	for n in 1 2 3 4; do
		noise 2000000 >f
		save -m $n
	done
	noise 3000000 >f
	cp -a "$(store_dir)" "$T/before"
	with_faults rename,unlink,link,fsync 0 kill git-checkpoint save -q -m 5
	total=$(cat "$T/faults")
	at=$(begin_at 10)
	while test $at -le "$total"; do
		rm -rf "$(store_dir)"
		cp -a "$T/before" "$(store_dir)"
		expect_exit 137 with_faults rename,unlink,link,fsync $at kill git-checkpoint save -q -m 5
		case $(reasons) in
		*'4' | *'5') ;;
		*) fail "at $at: $(reasons)" ;;
		esac
		git-checkpoint verify --all >"$T/out" || fail "at $at: $(cat "$T/out")"
		save -m 5
		within 10240 "at $at"
		store_sound
		at=$((at + ${STEP:-10}))
	done
}

run_tests
