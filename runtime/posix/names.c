/* Names of files: one table, each name with its whole path, so that a symbolic name forks only as far as it equals one that is there. */
#include "files.h"

/* Past `./` and further slashes. */
static const char *skip(const char *p) {
  for (;;) {
    if (p[0] == '/')
      p++;
    else if (p[0] == '.' && p[1] == '/')
      p += 2;
    else
      return p;
  }
}

/* Whether what follows a name says no more than that it is a directory: `/`, `/.`, `//./` */
static int only_directory(const char *p) {
  p = skip(p);
  return !p[0] || (p[0] == '.' && !p[1]);
}

enum match { DIFFERENT, SAME, BELOW, AS_DIRECTORY };

static enum match compare(const char *name, const char *path) {
  for (; *name; name++) {
    if (*name != *path) return DIFFERENT;
    path++;
    if (*name == '/') path = skip(path);
  }
  if (!*path) return SAME;
  if (*path != '/') return DIFFERENT;
  return only_directory(path) ? AS_DIRECTORY : BELOW;
}

/* The part of `name` below the directory, or none. */
static const char *below(const struct name *directory, const char *name) {
  const char *d = directory->text;
  if (d[0] == '.' && !d[1]) return name[0] == '/' || (name[0] == '.' && !name[1]) ? 0 : name;
  while (*d && *d == *name) d++, name++;
  return *d || *name != '/' ? 0 : name + 1;
}

static struct name *name_of(struct file *f) {
  for (int i = 0; i < MAX_NAMES; i++)
    if (pleach_names[i].file == f) return &pleach_names[i];
  return 0;
}

/* The program starts in the root: what is below the one is below the other. Who finds something by that learned it. */
static struct name *inside(struct name *directory) {
  static int said;
  if (directory != &pleach_names[ROOT]) return directory;
  pleach_assume_once(&said, "the directory is /");
  return pleach_names;
}

/* The directory that a path is relative to. */
static struct name *base(long at, const char *path, long *why) {
  if (*path == '/') return &pleach_names[ROOT];
  if (at == AT_FDCWD) return pleach_directory;
  struct description *d = pleach_description(at);
  *why = d ? -ENOTDIR : -EBADF;
  return d && d->file->kind == DIRECTORY ? name_of(d->file) : 0;
}

/* The directory for temporary files is there and empty, unless the program has made one of that name before. What follows its name in the path, or none. */
static int temporary_used;
static const char *in_temporary(const char *path) {
  /* A symbolic name is not compared: the path would split for nothing. */
  if (klee_is_symbolic((unsigned long)*path) || compare("tmp", path) == DIFFERENT) return 0;
  pleach_assume_once(&temporary_used, "the directory /tmp is there and empty");
  return skip(path + 3);
}

/* The directory that a name is in. */
static struct name *parent(const struct name *n) {
  struct name *best = pleach_names;
  int longest = 0;
  for (int i = TEMPORARY; i < MAX_NAMES; i++) {
    struct name *d = &pleach_names[i];
    if (!d->file || d == n || d->file->kind != DIRECTORY || !below(d, n->text)) continue;
    int length = 0;
    while (d->text[length]) length++;
    if (length > longest) longest = length, best = d;
  }
  return best;
}

static struct name *device(const char *path, long *why) {
  for (int i = 1; i < DEVICES; i++) {
    enum match m = compare(pleach_names[i].text, path);
    if (m == SAME) return &pleach_names[i];
    if (m != DIFFERENT) *why = -ENOTDIR;
  }
  return 0;
}

/* Whether the program itself removed the name. A symbolic name is not checked: the path would split for nothing. */
static int removed(const struct name *from, const char *path) {
  for (const char *p = path;; p++) {
    if (klee_is_symbolic((unsigned long)*p)) return 0;
    if (!*p) break;
  }
  for (int i = FIXED_NAMES; i < MAX_NAMES; i++) {
    const struct name *n = &pleach_names[i];
    const char *rest = n->file || !n->text[0] ? 0 : below(from, n->text);
    if (rest && compare(rest, path) == SAME) return 1;
  }
  return 0;
}

static struct name *find_below(struct name *from, const char *path, int follow, int depth, long *why) {
  static int said;
  *why = -ENOENT;
  if (!from) return 0;
  int absolute = *path == '/';
  if (absolute) {
    struct name *n = device(path, why);
    if (n || *why != -ENOENT) return n;
    from = &pleach_names[ROOT];
  }
  path = skip(path);
  if (!path[0] || (path[0] == '.' && !path[1])) return from;
  /* A directory that the program made has nothing else in it. */
  int from_root = from == &pleach_names[ROOT], own = from >= pleach_names + TEMPORARY;
  if (path[0] == '.' && path[1] == '.') {
    int at_top = from_root || from == pleach_names || from == &pleach_names[TEMPORARY];
    struct name *above = at_top ? &pleach_names[ROOT] : parent(from);
    if (!path[2] || (path[2] == '/' && only_directory(path + 2))) return above;
    if (path[2] == '/') return find_below(above, skip(path + 2), follow, depth, why);
  }
  const char *temporary = from_root && temporary_used ? in_temporary(path) : 0;
  for (int i = temporary ? MAX_NAMES : FIXED_NAMES; i < MAX_NAMES; i++) {
    struct name *n = &pleach_names[i];
    const char *rest = n->file ? below(from_root ? pleach_names : from, n->text) : 0;
    if (!rest) continue;
    enum match m = compare(rest, path);
    if (m == DIFFERENT) continue;
    inside(from);
    struct file *f = n->file;
    if (f->kind == LINK && ((follow & FOLLOW) || m != SAME)) {
      if (depth == 8) {
        *why = -ELOOP;
        return 0;
      }
      char target[LONGEST_NAME + 1];
      memcpy(target, f->data, (size_t)f->size);
      target[f->size] = 0;
      if (m == BELOW) __pleach_unmodelled(89); /* through a link to a directory */
      n = find_below(parent(n), target, follow, depth + 1, why);
      if (!n || m == SAME || n->file->kind == DIRECTORY) return n;
      *why = -ENOTDIR;
      return 0;
    }
    if (m == SAME || (m == AS_DIRECTORY && f->kind == DIRECTORY)) return n;
    if (f->kind != DIRECTORY) {
      *why = -ENOTDIR;
      return 0;
    }
    own = 1;
  }
  if (from_root && !temporary) temporary = in_temporary(path);
  if (temporary) return find_below(&pleach_names[TEMPORARY], temporary, follow, depth, why);
  if (from_root)
    pleach_assume_once(&said, "files outside the directory do not exist");
  else if (!own && !(follow & UNSAID) && !removed(from, path))
    pleach_assume_of("the file `", path, "` does not exist");
  return 0;
}

/* The name that a path leads to; if there is none, `why`. */
struct name *pleach_find(long at, const char *path, int follow, long *why) {
  __pleach_reads_text(path);
  *why = -ENOENT;
  return *path ? find_below(base(at, path, why), path, follow, 0, why) : 0;
}

/* A new name for a file; its directory must be there. */
long pleach_new_name(long at, const char *path, struct file *f) {
  long why = 0, last = 0, end = 0;
  struct name *directory = base(at, path, &why), *to = 0;
  if (!directory) return why;
  path = skip(path);
  for (; path[end]; end++) {
    if (end == LONGEST_NAME - 1) return -ENAMETOOLONG;
    if (path[end] == '/' && path[end + 1] && path[end + 1] != '/') last = end + 1;
  }
  if (!end) return -ENOENT;
  if (path[end - 1] == '/') {
    if (f->kind != DIRECTORY) return -EISDIR;
    while (path[end - 1] == '/') end--;
  }
  char head[LONGEST_NAME];
  if (last) {
    memcpy(head, path, (size_t)last);
    head[last] = 0;
    directory = find_below(directory, head, FOLLOW, 0, &why);
    if (!directory) return why;
    if (directory->file->kind != DIRECTORY) return -ENOTDIR;
  }
  directory = inside(directory);
  for (int i = FIXED_NAMES; i < MAX_NAMES && !to; i++)
    if (!pleach_names[i].file) to = &pleach_names[i];
  if (!to) return -ENOSPC;
  int n = 0;
  if (directory != pleach_names) {
    for (; directory->text[n]; n++) to->text[n] = directory->text[n];
    to->text[n++] = '/';
  }
  if (n + end - last >= LONGEST_NAME) return -ENAMETOOLONG;
  memcpy(to->text + n, path + last, (size_t)(end - last));
  to->text[n + end - last] = 0;
  to->file = f;
  f->links++;
  return 0;
}

static void forget(struct name *n) {
  if (!--n->file->links && n->file->kind == LINK) {
    free(n->file->data);
    n->file->kind = UNUSED;
  }
  n->file = 0;
}

static int empty(const struct name *directory) {
  for (int i = FIXED_NAMES; i < MAX_NAMES; i++)
    if (pleach_names[i].file && below(directory, pleach_names[i].text)) return 0;
  return 1;
}

static long remove_(long at, const char *path, int directory) {
  long why;
  struct name *n = pleach_find(at, path, 0, &why);
  if (!n) return why;
  if (n < pleach_names + FIXED_NAMES) return n->file->kind == DIRECTORY && !directory ? -EISDIR : directory ? -EINVAL : -EACCES;
  if (directory && n->file->kind != DIRECTORY) return -ENOTDIR;
  if (!directory && n->file->kind == DIRECTORY) return -EISDIR;
  if (directory && !empty(n)) return -ENOTEMPTY;
  if (n == pleach_directory) pleach_directory = pleach_names;
  forget(n);
  return 0;
}

/* mkdir, mkfifo, symlink: `text` is where a link leads. */
static long make(long at, const char *path, enum kind kind, unsigned mode, const char *text) {
  long why, size = 0;
  if (pleach_find(at, path, 0, &why)) return -EEXIST;
  if (why != -ENOENT || !*path) return why;
  if (text)
    while (text[size]) size++;
  if (text && !size) return -ENOENT;
  if (size >= LONGEST_NAME) return -ENAMETOOLONG;
  struct file *f = pleach_new_file(kind, 0, 0, mode);
  if (!f) return -ENOSPC;
  why = pleach_new_name(at, path, f);
  if (why) {
    f->kind = UNUSED;
    return why;
  }
  if (text) {
    f->data = __pleach_malloc((size_t)size);
    memcpy(f->data, text, (size_t)size);
    f->size = f->room = size;
  }
  return 0;
}

static long link_(long at, const char *path, long to_at, const char *to, int follow) {
  long why;
  struct name *n = pleach_find(at, path, follow, &why);
  if (!n) return why;
  struct file *f = n->file;
  if (f->kind == DIRECTORY) return -EPERM;
  if (n < pleach_names + FIXED_NAMES) return -EXDEV;
  if (pleach_find(to_at, to, 0, &why)) return -EEXIST;
  if (why != -ENOENT || !*to) return why;
  return pleach_new_name(to_at, to, f);
}

static long rename_(long at, const char *path, long to_at, const char *to, int replace) {
  long why;
  struct name *n = pleach_find(at, path, 0, &why);
  if (!n) return why;
  if (n < pleach_names + FIXED_NAMES) return -EXDEV;
  struct file *f = n->file;
  struct name *old = pleach_find(to_at, to, 0, &why);
  if (!old && (why != -ENOENT || !*to)) return why;
  if (old) {
    if (!replace) return -EEXIST;
    if (old->file == f) return 0;
    if (old < pleach_names + FIXED_NAMES) return -EXDEV;
    if (old->file->kind == DIRECTORY && f->kind != DIRECTORY) return -EISDIR;
    if (old->file->kind != DIRECTORY && f->kind == DIRECTORY) return -ENOTDIR;
    if (!empty(old)) return -ENOTEMPTY;
    forget(old);
  }
  if (f->kind == DIRECTORY && !empty(n)) __pleach_unmodelled(82); /* everything below would get another name */
  why = pleach_new_name(to_at, to, f);
  if (!why) forget(n);
  return why;
}

static long read_link(long at, const char *path, char *to, long size) {
  long why;
  struct name *n = pleach_find(at, path, 0, &why);
  if (!n) return why;
  if (n->file->kind != LINK) return -EINVAL;
  if (size > n->file->size) size = n->file->size;
  memcpy(to, n->file->data, (size_t)size);
  return size;
}

static long change_directory(struct name *n, const long *why) {
  if (!n) return *why;
  if (n->file->kind != DIRECTORY) return -ENOTDIR;
  pleach_directory = n;
  return 0;
}

struct entry {
  unsigned long ino;
  long next;
  unsigned short size;
  unsigned char type;
  char name[];
};

/* The offset counts names: 0 and 1 are `.` and `..`. */
static long list(long fd, char *to, long room) {
  struct description *d = pleach_description(fd);
  if (!d) return -EBADF;
  if (d->file->kind != DIRECTORY) return -ENOTDIR;
  struct name *directory = name_of(d->file);
  if (!directory) return 0;
  directory = inside(directory);
  static int said;
  if (directory == pleach_names) pleach_assume_once(&said, "the directory has no other files");
  long used = 0;
  for (; d->offset < MAX_NAMES + 2; d->offset++) {
    const char *text = d->offset == 0 ? "." : "..";
    struct file *f = d->file;
    if (d->offset > 1) {
      struct name *n = &pleach_names[d->offset - 2];
      f = n->file;
      text = f && n >= pleach_names + FIXED_NAMES ? below(directory, n->text) : 0;
    }
    if (!text) continue;
    long length = 0, inner = 0;
    for (; text[length]; length++) inner |= text[length] == '/';
    if (inner) continue;
    long size = (length + 1 + 19 + 7) & ~7L;
    if (used + size > room) return used ? used : -EINVAL;
    struct entry *e = (struct entry *)(to + used);
    struct stat is;
    pleach_attributes(f, &is);
    e->ino = is.ino;
    e->next = d->offset + 1;
    e->size = (unsigned short)size;
    e->type = (unsigned char)((f->mode & S_IFMT) >> 12);
    memcpy(e->name, text, (size_t)length + 1);
    used += size;
  }
  return used;
}
