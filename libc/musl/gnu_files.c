/* Functions of the GNU library about files that musl lacks. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include "syscall.h"

char *canonicalize_file_name(const char *path)
{
	return realpath(path, 0);
}

int renameat2(int from, const char *old, int to, const char *new, unsigned flags)
{
	return syscall(SYS_renameat2, from, old, to, new, flags);
}

unsigned gnu_dev_major(dev_t device)
{
	return major(device);
}

unsigned gnu_dev_minor(dev_t device)
{
	return minor(device);
}

dev_t gnu_dev_makedev(unsigned major, unsigned minor)
{
	return makedev(major, minor);
}

/* As the kernel lays it out. */
struct stamp {
	int64_t sec;
	uint32_t nsec;
	int32_t pad;
};
struct statx {
	uint32_t mask, blksize;
	uint64_t attributes;
	uint32_t nlink, uid, gid;
	uint16_t mode, pad;
	uint64_t ino, size, blocks, attributes_mask;
	struct stamp atime, btime, ctime, mtime;
	uint32_t rdev_major, rdev_minor, dev_major, dev_minor;
	uint64_t spare[14];
};

/* What fstatat knows: everything but the time of birth. */
int statx(int at, const char *restrict path, int flags, unsigned mask, struct statx *restrict to)
{
	struct stat s;
	if (fstatat(at, path, &s, flags & (AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))) return -1;
	memset(to, 0, sizeof *to);
	to->mask = 0x7ff;
	to->blksize = s.st_blksize;
	to->nlink = s.st_nlink, to->uid = s.st_uid, to->gid = s.st_gid, to->mode = s.st_mode;
	to->ino = s.st_ino, to->size = s.st_size, to->blocks = s.st_blocks;
	to->atime.sec = s.st_atim.tv_sec, to->atime.nsec = s.st_atim.tv_nsec;
	to->ctime.sec = s.st_ctim.tv_sec, to->ctime.nsec = s.st_ctim.tv_nsec;
	to->mtime.sec = s.st_mtim.tv_sec, to->mtime.nsec = s.st_mtim.tv_nsec;
	to->rdev_major = major(s.st_rdev), to->rdev_minor = minor(s.st_rdev);
	to->dev_major = major(s.st_dev), to->dev_minor = minor(s.st_dev);
	return 0;
}
