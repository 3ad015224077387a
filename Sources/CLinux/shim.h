// What Linux has and Swift's Glibc module does not: variadic calls, and what glibc keeps behind _GNU_SOURCE.
#ifndef BACKGROUNDER_CLINUX_SHIM_H
#define BACKGROUNDER_CLINUX_SHIM_H

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

// Orphans below this process become its children; 0, or -1 and errno.
static inline int clinux_adopt_orphans(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

// The name of this thread, as `ps` and `top` show it; 15 bytes are kept.
static inline void clinux_set_name(const char *name) { (void)prctl(PR_SET_NAME, name, 0, 0, 0); }

// The child closes every descriptor from `first` on; 0 or an error's code.
static inline int clinux_add_close_from(posix_spawn_file_actions_t *actions, int first) {
    extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *, int);
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

// The child goes to the directory `path`; 0 or an error's code.
static inline int clinux_add_directory(posix_spawn_file_actions_t *actions, const char *path) {
    extern int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *, const char *);
    return posix_spawn_file_actions_addchdir_np(actions, path);
}

// poll(2) that lets all signals through while it waits; a negative `milliseconds` is no limit.
static inline int clinux_poll(struct pollfd *descriptors, size_t count, long milliseconds) {
    extern int ppoll(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
    const struct timespec limit = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    sigset_t none;
    sigemptyset(&none);
    return ppoll(descriptors, count, milliseconds < 0 ? NULL : &limit, &none);
}

// A descriptor of the process, which stays its own also when the number is given again; -1 and errno.
static inline int clinux_open_process(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

// Signals the process that `descriptor` was opened for, and no other; 0, or -1 and errno.
static inline int clinux_signal_process(int descriptor, int signal) {
    return (int)syscall(SYS_pidfd_send_signal, descriptor, signal, NULL, 0);
}

// The ends of a pipe that no program inherits; 0, or -1 and errno.
static inline int clinux_pipe(int ends[2]) {
    extern int pipe2(int[2], int);
    return pipe2(ends, 02000000);
}

// A timer of the clock on the wall that never comes by itself; -1 and errno.
static inline int clinux_clock_watch(void) { return timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK); }

// From now on the timer can be read once the clock is set or the machine wakes up: with ECANCELED.
static inline int clinux_watch_clock(int timer) {
    const struct itimerspec never = {.it_value = {.tv_sec = 1LL << 33}};
    return timerfd_settime(timer, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL);
}

// The system clock in milliseconds since 1970, or -1 while the kernel does not know it to be synchronised (adjtimex(2)).
static inline int64_t clinux_synchronised_time(void) {
    struct timex state;
    memset(&state, 0, sizeof state);
    int result = adjtimex(&state);
    if (result < 0 || result == TIME_ERROR || (state.status & STA_UNSYNC)) return -1;
    int64_t fraction = state.status & STA_NANO ? state.time.tv_usec / 1000000 : state.time.tv_usec / 1000;
    return (int64_t)state.time.tv_sec * 1000 + fraction;
}

// Who opened the other end of a Unix socket, at the time of its connect (unix(7)); 0, or -1 and errno.
static inline int clinux_peer(int socket, uid_t *user, gid_t *group) {
    struct { pid_t process; uid_t user; gid_t group; } peer;
    socklen_t size = sizeof peer;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return -1;
    *user = peer.user;
    *group = peer.group;
    return 0;
}

// The supplementary groups of the same peer (Linux 4.13). Writes at most `count` of them, and returns how many there are, or
// -1 and errno.
static inline int clinux_peer_groups(int socket, gid_t *groups, int count) {
    socklen_t size = (socklen_t)count * sizeof *groups;
    if (getsockopt(socket, SOL_SOCKET, 59 /* SO_PEERGROUPS */, groups, &size) != 0 && errno != ERANGE) return -1;
    return (int)(size / sizeof *groups);
}

// The heaps that malloc takes memory from: by default up to eight for each processor, each of which keeps what its threads once
// needed (mallopt(3)). To be called before the first thread starts.
static inline void clinux_limit_heaps(int count) {
    extern int mallopt(int, int);
    (void)mallopt(-8 /* M_ARENA_MAX */, count);
}

// Gives memory that was freed back to the system.
static inline void clinux_trim_memory(void) {
    extern int malloc_trim(size_t);
    (void)malloc_trim(0);
}

// A path that is resolved beneath `directory` and through no symbolic link; -1 and errno where it leads elsewhere.
static inline int clinux_open_beneath(int directory, const char *path, uint64_t flags, uint64_t mode) {
    struct open_how how;
    memset(&how, 0, sizeof how);
    how.flags = flags;
    how.mode = mode;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    return (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
}

// Renames inside `directory`; fails with EEXIST where `to` exists.
static inline int clinux_rename_new(int directory, const char *from, const char *to) {
    return (int)syscall(SYS_renameat2, directory, from, directory, to, (unsigned)RENAME_NOREPLACE);
}

// Gives the file blocks up to `length` without a change of its size (FALLOC_FL_KEEP_SIZE).
static inline int clinux_reserve(int file, int64_t length) {
    return (int)syscall(SYS_fallocate, file, 1, (int64_t)0, length);
}

// A socket on which the kernel tells of what `groups` of `protocol` are; never blocks.
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

static inline int clinux_route_changes(void) {
    return clinux_netlink(NETLINK_ROUTE, RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE | RTMGRP_LINK);
}

static inline int clinux_device_changes(void) { return clinux_netlink(NETLINK_KOBJECT_UEVENT, 1); }

#endif
