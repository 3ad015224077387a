// Linux functions that Swift's Glibc module lacks: variadic ones, and those that need _GNU_SOURCE.
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/netlink.h>
#include <linux/openat2.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

// Makes this process the reaper of its orphaned descendants. Returns 0, or -1 and errno.
static inline int clinux_adopt_orphans(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

// Sets the name of this thread, which `ps` and `top` show; the first 15 bytes count.
static inline void clinux_set_name(const char *name) { (void)prctl(PR_SET_NAME, name, 0, 0, 0); }

// Returns the calling thread's id, for a timer that signals it.
static inline pid_t clinux_thread(void) { return (pid_t)syscall(SYS_gettid); }

// memmem(3): a pointer to the match in `bytes`, or a null pointer.
static inline const char *clinux_find(const char *bytes, size_t count, const void *text, size_t length) {
    extern void *memmem(const void *, size_t, const void *, size_t);
    return (const char *)memmem(bytes, count, text, length);
}

// Makes the child close every descriptor from `first` on. Returns 0 or an error code.
static inline int clinux_add_close_from(posix_spawn_file_actions_t *actions, int first) {
    extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *, int);
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

// Makes `path` the child's working directory. Returns 0 or an error code.
static inline int clinux_add_directory(posix_spawn_file_actions_t *actions, const char *path) {
    extern int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *, const char *);
    return posix_spawn_file_actions_addchdir_np(actions, path);
}

// poll(2) with all signals unblocked while it waits; a negative `milliseconds` means no limit.
static inline int clinux_poll(struct pollfd *descriptors, size_t count, long milliseconds) {
    extern int ppoll(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
    const struct timespec limit = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    sigset_t none;
    sigemptyset(&none);
    return ppoll(descriptors, count, milliseconds < 0 ? NULL : &limit, &none);
}

// Opens a descriptor for the process, which refers to it even after its pid is reused. Returns -1 and errno on failure.
static inline int clinux_open_process(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

// Signals the process that `descriptor` was opened for, and no other. Returns 0, or -1 and errno.
static inline int clinux_signal_process(int descriptor, int signal) {
    return (int)syscall(SYS_pidfd_send_signal, descriptor, signal, NULL, 0);
}

// Creates a close-on-exec pipe. Returns 0, or -1 and errno.
static inline int clinux_pipe(int ends[2]) {
    extern int pipe2(int[2], int);
    return pipe2(ends, 02000000);
}

// Creates a timer on the system clock that never expires by itself. Returns -1 and errno on failure.
static inline int clinux_clock_watch(void) { return timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK); }

// Arms the timer so that a read fails with ECANCELED once the clock is set or the machine wakes up.
static inline int clinux_watch_clock(int timer) {
    const struct itimerspec never = {.it_value = {.tv_sec = 1LL << 33}};
    return timerfd_settime(timer, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL);
}

// Returns the system clock in milliseconds since 1970, or -1 unless the kernel considers it synchronised (adjtimex(2)).
static inline int64_t clinux_synchronised_time(void) {
    struct timex state;
    memset(&state, 0, sizeof state);
    int result = adjtimex(&state);
    if (result < 0 || result == TIME_ERROR || (state.status & STA_UNSYNC)) return -1;
    int64_t fraction = state.status & STA_NANO ? state.time.tv_usec / 1000000 : state.time.tv_usec / 1000;
    return (int64_t)state.time.tv_sec * 1000 + fraction;
}

// Reads the credentials of the peer of a Unix socket at the time of its connect (unix(7)). Returns 0, or -1 and errno.
static inline int clinux_peer(int socket, uid_t *user, gid_t *group) {
    struct { pid_t process; uid_t user; gid_t group; } peer;
    socklen_t size = sizeof peer;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return -1;
    *user = peer.user;
    *group = peer.group;
    return 0;
}

// Reads the supplementary groups of the peer (Linux 4.13). Writes at most `count` of them and returns their number, or -1
// and errno.
static inline int clinux_peer_groups(int socket, gid_t *groups, int count) {
    socklen_t size = (socklen_t)count * sizeof *groups;
    if (getsockopt(socket, SOL_SOCKET, 59 /* SO_PEERGROUPS */, groups, &size) != 0 && errno != ERANGE) return -1;
    return (int)(size / sizeof *groups);
}

// Limits the number of malloc's heaps. The default is up to eight per processor, and each keeps the peak of its threads
// (mallopt(3)). Call it before the first thread starts.
static inline void clinux_limit_heaps(int count) {
    extern int mallopt(int, int);
    (void)mallopt(-8 /* M_ARENA_MAX */, count);
}

// Returns freed memory to the system.
static inline void clinux_trim_memory(void) {
    extern int malloc_trim(size_t);
    (void)malloc_trim(0);
}

// Opens a path that resolves beneath `directory` without symbolic links. Returns -1 and errno otherwise.
static inline int clinux_open_beneath(int directory, const char *path, uint64_t flags, uint64_t mode) {
    struct open_how how;
    memset(&how, 0, sizeof how);
    how.flags = flags;
    how.mode = mode;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    return (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
}

// Renames a file inside `directory`. Fails with EEXIST if `to` exists.
static inline int clinux_rename_new(int directory, const char *from, const char *to) {
    return (int)syscall(SYS_renameat2, directory, from, directory, to, (unsigned)RENAME_NOREPLACE);
}

// Allocates blocks up to `length` without changing the size of the file (FALLOC_FL_KEEP_SIZE).
static inline int clinux_reserve(int file, int64_t length) {
    return (int)syscall(SYS_fallocate, file, 1, (int64_t)0, length);
}

// Opens a non-blocking netlink socket for the events of `groups` of `protocol`. Returns -1 and errno on failure.
static inline int clinux_netlink(int protocol, uint32_t groups) {
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
    if (descriptor < 0) return -1;
    struct sockaddr_nl address;
    memset(&address, 0, sizeof address);
    address.nl_family = AF_NETLINK;
    address.nl_groups = groups;
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) != 0) {
        close(descriptor);
        return -1;
    }
    return descriptor;
}

// Opens a socket for changes of addresses, routes and links (rtnetlink(7)). Returns -1 and errno on failure.
static inline int clinux_route_changes(void) {
    return clinux_netlink(NETLINK_ROUTE, RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE | RTMGRP_LINK);
}

// Opens a socket for the kernel's device events. Returns -1 and errno on failure.
static inline int clinux_device_changes(void) { return clinux_netlink(NETLINK_KOBJECT_UEVENT, 1); }
