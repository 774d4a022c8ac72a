/* holder WAY PATH: keeps hold of a drive in one of the ways in which Linux lets a process, says
 * "held", and stays so until its standard input ends. With "write" on standard input it writes a
 * block of its own at 8 MiB, by what it holds where that is a plain descriptor.
 *
 * holder nvme-writes PATH: writes 256 MiB to an NVMe namespace by commands, from a node that is open
 * for reading only, and ends.
 *
 * holder digest PATH: of its first and last 32 MiB and of a thousand places between. */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/nvme_ioctl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *path;
static int held = -1; /* what "write" writes by */

static int opened(int flags) {
  int fd = open(path, flags | O_CLOEXEC);
  if (fd < 0) err(2, "%s", path);
  return fd;
}

static void need(int is_done, const char *what) {
  if (!is_done) err(2, "%s", what);
}

/* Until standard input ends. */
static void hold(void) {
  char line[64];
  puts("held");
  fflush(stdout);
  while (fgets(line, sizeof line, stdin)) {
    static char block[4096] __attribute__((aligned(4096)));
    memset(block, 0x5a, sizeof block);
    need(pwrite(held, block, sizeof block, 8 << 20) == sizeof block && fsync(held) == 0, "write");
    puts("written");
    fflush(stdout);
  }
}

/* --- descriptors and threads --- */

static void by_descriptor(int flags) {
  held = opened(flags);
  hold();
}

/* A thread with a table of its own, which alone has the descriptor. */
static void *in_own_table(void *unused) {
  need(unshare(CLONE_FILES) == 0, "unshare");
  by_descriptor(O_RDWR);
  exit(0);
  return unused;
}

static void *in_shared_table(void *unused) {
  usleep(200000); /* the main thread is gone by then */
  by_descriptor(O_RDWR);
  exit(0);
  return unused;
}

static void *with_mapping_only(void *unused);

static void by_thread(void *(*begin)(void *), int leader_ends) {
  pthread_t thread;
  need(pthread_create(&thread, NULL, begin, NULL) == 0, "thread");
  if (leader_ends) pthread_exit(NULL);
  pthread_join(thread, NULL);
}

/* A process that shares this one's table and memory, and outlives it. */
static int in_clone(void *unused) {
  (void)unused;
  by_descriptor(O_RDWR);
  return 0;
}

static void by_clone(int flags) {
  static char stack[1 << 16] __attribute__((aligned(64)));
  need(clone(in_clone, stack + sizeof stack, flags | SIGCHLD, NULL) > 0, "clone");
  wait(NULL);
}

/* --- mappings --- */

static void mapped(int open_flags, int protection, int flags) {
  int fd = opened(open_flags);
  char *map = mmap(NULL, 1 << 20, protection, flags, fd, 0);
  need(map != MAP_FAILED, "mmap");
  close(fd);
  hold();
}

static void *with_mapping_only(void *unused) {
  usleep(200000);
  mapped(O_RDWR, PROT_READ | PROT_WRITE, MAP_SHARED);
  exit(0);
  return unused;
}

/* --- io_uring --- */

static int ring_of(struct io_uring_params *p) {
  int ring = syscall(SYS_io_uring_setup, 4, p);
  need(ring >= 0, "io_uring_setup");
  return ring;
}

static int registering(int slots, int at) {
  struct io_uring_params p = {0};
  int ring = ring_of(&p), fds[64];
  for (int i = 0; i < slots; i++) fds[i] = -1;
  fds[at] = opened(O_RDWR);
  need(syscall(SYS_io_uring_register, ring, IORING_REGISTER_FILES, fds, slots) == 0, "register");
  close(fds[at]);
  return ring;
}

static void *ring_in_own_table(void *unused) {
  need(unshare(CLONE_FILES) == 0, "unshare");
  registering(1, 0);
  hold();
  exit(0);
  return unused;
}

/* The ring's own descriptor is closed, too: its memory keeps it. */
static void ring_closed(void) {
  int ring = registering(1, 0);
  void *map = mmap(NULL, 4 * sizeof(struct io_uring_sqe), PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQES);
  need(map != MAP_FAILED, "mmap");
  close(ring);
  hold();
}

/* --- descriptors on their way --- */

static void sent(int through, int fd) {
  char byte = 'x', control[CMSG_SPACE(sizeof fd)] = {0};
  struct iovec data = {&byte, 1};
  struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1,
                           .msg_control = control, .msg_controllen = sizeof control};
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof fd);
  memcpy(CMSG_DATA(header), &fd, sizeof fd);
  need(sendmsg(through, &message, 0) == 1, "sendmsg");
  close(fd);
}

static void in_flight(int type, int flags) {
  int pair[2];
  need(socketpair(AF_UNIX, type, 0, pair) == 0, "socketpair");
  sent(pair[0], opened(flags));
  hold();
}

static void in_flight_behind_another(void) {
  int pair[2];
  need(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "socketpair");
  sent(pair[0], open("/dev/null", O_RDWR));
  sent(pair[0], opened(O_RDWR));
  hold();
}

static void in_flight_in_flight(void) {
  int inner[2], outer[2];
  need(socketpair(AF_UNIX, SOCK_STREAM, 0, inner) == 0, "socketpair");
  need(socketpair(AF_UNIX, SOCK_STREAM, 0, outer) == 0, "socketpair");
  sent(inner[0], opened(O_RDWR));
  sent(outer[0], inner[1]);
  hold();
}

/* Sent to a server that has not accepted yet. */
static void in_flight_unaccepted(void) {
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "holder-%d", getpid());
  int server = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0);
  need(bind(server, (void *)&name, sizeof name) == 0 && listen(server, 1) == 0, "listen");
  need(connect(client, (void *)&name, sizeof name) == 0, "connect");
  sent(client, opened(O_RDWR));
  close(client);
  hold();
}

/* --- names and namespaces --- */

/* A node of its own, beside the one that is known. */
static void make_node(const char *blank) {
  static char name[256];
  struct stat facts;
  need(stat(path, &facts) == 0, "stat");
  snprintf(name, sizeof name, "%s%s%d", path, blank, getpid());
  need(mknod(name, S_IFBLK | 0600, facts.st_rdev) == 0, "mknod");
  path = name;
}

static void by_own_node(int stays) {
  make_node(" node of ");
  held = opened(O_RDWR);
  if (!stays) unlink(path);
  hold();
  unlink(path);
}

static void registered_by_own_node(void) {
  make_node("-node-of-");
  registering(1, 0);
  hold();
  unlink(path);
}

static void in_namespace(int kind) {
  held = opened(O_RDWR);
  need(unshare(kind) == 0, "unshare");
  pid_t child = fork();
  if (child == 0) {
    hold();
    exit(0);
  }
  close(held);
  waitpid(child, NULL, 0);
}

static void digest(void) {
  enum { BLOCK = 4096, END = 32 << 20, AT_ONCE = 256 << 10 };
  static unsigned char data[AT_ONCE] __attribute__((aligned(BLOCK)));
  uint64_t hash = 0xcbf29ce484222325;
  int fd = opened(O_RDONLY | O_DIRECT);
  off_t size = lseek(fd, 0, SEEK_END) / BLOCK * BLOCK, between = size - 2 * END, at = 0;
  while (at < size) {
    int is_sampled = between > 1000 * BLOCK && at >= END && at < size - END;
    off_t left = (between > 0 && at < END ? END : size) - at;
    off_t length = is_sampled ? BLOCK : left < AT_ONCE ? left : AT_ONCE;
    need(pread(fd, data, length, at) == length, "read");
    for (off_t i = 0; i < length; i += 8) hash = (hash ^ *(uint64_t *)(data + i)) * 0x100000001b3;
    at += is_sampled ? between / 1000 / BLOCK * BLOCK : length;
  }
  printf("%016lx\n", (unsigned long)hash);
}

static void nvme_writes(void) {
  enum { LENGTH = 128 << 10, LBA = 512 };
  static char data[LENGTH] __attribute__((aligned(4096)));
  int fd = opened(O_RDONLY), number = ioctl(fd, NVME_IOCTL_ID);
  need(number > 0, "the namespace's number");
  struct nvme_passthru_cmd write = {
    .opcode = 1, .nsid = number, .addr = (uintptr_t)data, .data_len = LENGTH, .cdw12 = LENGTH / LBA - 1,
  };
  for (int i = 0; i < (256 << 20) / LENGTH; i++) {
    write.cdw10 = i % 256 * (LENGTH / LBA);
    need(ioctl(fd, NVME_IOCTL_IO_CMD, &write) == 0, "the command");
  }
}

static void stopped(void) {
  held = opened(O_RDWR);
  puts("held");
  fflush(stdout);
  raise(SIGSTOP);
}

int main(int count, char **words) {
  if (count != 3) errx(2, "usage: holder WAY PATH");
  const char *way = words[1];
  path = words[2];
#define IS(name) !strcmp(way, name)
  if (IS("digest")) { digest(); return 0; }
  if (IS("nvme-writes")) { nvme_writes(); return 0; }
  setpgid(0, 0); /* so that all that it starts is known as its own */
  if (IS("reading")) by_descriptor(O_RDONLY);
  else if (IS("writing")) by_descriptor(O_RDWR);
  else if (IS("writing-only")) by_descriptor(O_WRONLY);
  else if (IS("direct")) by_descriptor(O_RDWR | O_DIRECT);
  else if (IS("thread")) by_thread(in_own_table, 0);
  else if (IS("leader-gone")) by_thread(in_shared_table, 1);
  else if (IS("leader-gone-own-table")) by_thread(in_own_table, 1);
  else if (IS("leader-gone-mapped")) by_thread(with_mapping_only, 1);
  else if (IS("clone")) by_clone(CLONE_VM | CLONE_FILES);
  else if (IS("fork")) by_clone(0);
  else if (IS("mapped")) mapped(O_RDWR, PROT_READ | PROT_WRITE, MAP_SHARED);
  else if (IS("mapped-reading")) mapped(O_RDONLY, PROT_READ, MAP_SHARED);
  else if (IS("mapped-executable")) mapped(O_RDWR, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED);
  else if (IS("mapped-nothing")) mapped(O_RDWR, PROT_NONE, MAP_SHARED);
  else if (IS("mapped-private")) mapped(O_RDWR, PROT_READ | PROT_WRITE, MAP_PRIVATE);
  else if (IS("registered")) { registering(1, 0); hold(); }
  else if (IS("registered-among-others")) { registering(64, 63); hold(); }
  else if (IS("registered-by-thread")) by_thread(ring_in_own_table, 0);
  else if (IS("registered-by-own-node")) registered_by_own_node();
  else if (IS("registered-ring-closed")) ring_closed();
  else if (IS("in-flight")) in_flight(SOCK_STREAM, O_RDWR);
  else if (IS("in-flight-reading")) in_flight(SOCK_STREAM, O_RDONLY);
  else if (IS("in-flight-datagram")) in_flight(SOCK_DGRAM, O_RDWR);
  else if (IS("in-flight-packet")) in_flight(SOCK_SEQPACKET, O_RDWR);
  else if (IS("in-flight-behind-another")) in_flight_behind_another();
  else if (IS("in-flight-in-flight")) in_flight_in_flight();
  else if (IS("in-flight-unaccepted")) in_flight_unaccepted();
  else if (IS("own-node")) by_own_node(1);
  else if (IS("own-node-removed")) by_own_node(0);
  else if (IS("pid-namespace")) in_namespace(CLONE_NEWPID);
  else if (IS("mount-namespace")) in_namespace(CLONE_NEWNS);
  else if (IS("user-namespace")) in_namespace(CLONE_NEWUSER);
  else if (IS("stopped")) stopped();
  else errx(2, "no way '%s'", way);
  return 0;
}
