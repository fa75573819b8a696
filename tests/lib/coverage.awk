# SPDX-License-Identifier: MIT
# From what gcov says of each file: lines, and how many of them were run, for each folder.

/^File '/ {
	file = substr($0, 7, length($0) - 7)
	next
}

/^Lines executed:/ && file ~ /^(lib\/|git-checkpoint)/ && file ~ /\.c$/ {
	split(substr($0, 16), part, "% of ")
	folder = file
	if (!sub(/\/[^\/]*$/, "", folder))
		folder = "."
	lines[folder] += part[2]
	run[folder] += part[1] * part[2] / 100
	all += part[2]
	all_run += part[1] * part[2] / 100
	if (files)
		printf "%6.1f %%  %6d  %s\n", part[1], part[2], file | "sort -n"
	file = ""
}

END {
	if (files)
		close("sort -n")
	for (folder in lines)
		printf "%6.1f %%  %6d  %s/\n", 100 * run[folder] / lines[folder], lines[folder], folder | "sort -k4"
	close("sort -k4")
	if (!all) {
		print "no line was run"
		exit 1
	}
	printf "%6.1f %%  %6d  in all\n", 100 * all_run / all, all
}
