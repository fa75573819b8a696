/* SPDX-License-Identifier: MIT */
/* A process as /proc tells it: what is in "stat" before the first NUL, then its command line. */
#include "fuzz.h"

#include "base/proc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	struct proc_list list = { 0 };
	struct proc proc = { 0 };
	size_t len;
	char *stat = fuzz_until(&in, '\0', &len);

	fuzz_mkdir("proc");
	fuzz_mkdir("proc/7");
	fuzz_put("proc/7/stat", stat, len);
	fuzz_put("proc/7/cmdline", in.data, in.size);
	(void)proc_read(&proc, fuzz_path("proc"), 7);
	proc_release(&proc);
	/* Its parent may be itself. */
	proc_ancestors(&list, fuzz_path("proc"), 7);
	proc_list_release(&list);
	(void)proc_alive(fuzz_path("proc"), 7, 1);
	free(stat);
	return 0;
}
