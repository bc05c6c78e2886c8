/* Attributes of files as runtime/posix lays them out on 32 bits. */
struct kstat {
	unsigned long st_dev, st_ino, st_nlink;
	unsigned st_mode, st_uid, st_gid, __pad;
	unsigned long st_rdev;
	long st_size, st_blksize, st_blocks;
	long st_atime_sec, st_atime_nsec, st_mtime_sec, st_mtime_nsec, st_ctime_sec, st_ctime_nsec;
	long __unused[3];
};
