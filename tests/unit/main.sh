#!/bin/sh
# SPDX-License-Identifier: MIT
#
# main.sh <test>...: the C source of a program that runs the unit test whose name it is called by
cat <<'END'
/* Made by tests/unit/main.sh. */
#include <stdio.h>
#include <string.h>

END
printf 'int %s_main(int argc, char **argv);\n' "$@"
printf '\nstatic const struct {\n\tconst char *name;\n\tint (*run)(int argc, char **argv);\n} tests[] = {\n'
for test; do
	printf '\t{ "%s", %s_main },\n' "$test" "$test"
done
cat <<'END'
};

int main(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		if (!strcmp(tests[i].name, name))
			return tests[i].run(argc, argv);
	fprintf(stderr, "%s: no such unit test\n", name);
	return 2;
}
END
