// SPDX-License-Identifier: GPL-2.0
/*
 * A program of the scenario process-strace that is linked to musl: its C library
 * makes other system calls than glibc, stat and lstat among them. It does the same
 * each time it runs.
 */

#include <dirent.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define DIR_NAME	"/tmp/process-musl"

extern char **environ;

__attribute__((noreturn))
static void fail(const char *what)
{
	perror(what);
	exit(99);
}

int main(void)
{
	char *child[] = { "true", NULL };
	unsigned int entries = 0;
	struct stat st;
	int status;
	FILE *file;
	pid_t pid;
	DIR *dir;

	if (mkdir(DIR_NAME, 0700) || chdir(DIR_NAME))
		fail("mkdir");
	file = fopen("file", "w");
	if (!file || fprintf(file, "text %d\n", 1) < 0 || fclose(file))
		fail("fopen");
	if (symlink("file", "link") || symlink("nothing", "broken"))
		fail("symlink");

	if (stat("link", &st) || !S_ISREG(st.st_mode) || st.st_size != 7)
		fail("stat");
	if (lstat("link", &st) || !S_ISLNK(st.st_mode))
		fail("lstat");
	if (!stat("broken", &st) || lstat("broken", &st))
		fail("broken");

	dir = opendir(".");
	if (!dir)
		fail("opendir");
	while (readdir(dir))
		entries++;
	closedir(dir);

	if (posix_spawn(&pid, "/bin/true", NULL, NULL, child, environ) ||
	    waitpid(pid, &status, 0) != pid || status)
		fail("posix_spawn");

	if (unlink("broken") || unlink("link") || unlink("file") || rmdir(DIR_NAME))
		fail("unlink");
	printf("%u entries\n", entries);

	return entries == 5 ? 0 : 99;
}
