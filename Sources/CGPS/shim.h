// libgps for Swift. What moved between its versions hides behind an inline function; the layout of gps_data_t differs
// between them too, so a build fits the libgps that it was built with.
#ifndef BACKGROUNDER_CGPS_SHIM_H
#define BACKGROUNDER_CGPS_SHIM_H

#include <errno.h>
#include <gps.h>
#include <string.h>
// Not in Swift's Glibc module: what wakes a thread that waits for gpsd.
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

// API 9 brought struct timespec and altHAE/altMSL; Debian 11 has 9.0 and Debian 12 has 11.0.
#if GPSD_API_MAJOR_VERSION < 9
#error "libgps 3.20 or newer is needed (apt install libgps-dev)"
#endif

// The kind of fix (STATUS_...); it moved into the fix at API 10.
static inline int cgps_fix_status(const struct gps_data_t *data) {
#if GPSD_API_MAJOR_VERSION < 10
    return data->status;
#else
    return data->fix.status;
#endif
}

// The socket; its type became a typedef at API 14 and stayed an int.
static inline int cgps_socket(const struct gps_data_t *data) { return (int)data->gps_fd; }

// gps_open's own text for a failure: the code is in errno, negative, and not in what gps_open returns.
static inline int cgps_open(const char *host, const char *port, struct gps_data_t *data, const char **reason) {
    errno = 0;
    const int result = gps_open(host, port, data);
    *reason = result == 0 ? "" : gps_errstr(errno != 0 ? errno : result);
    return result;
}

// glibc's memmem, which is behind _GNU_SOURCE: what is looked for in `bytes`, or a null pointer.
static inline const char *cgps_find(const char *bytes, size_t count, const void *text, size_t length) {
    extern void *memmem(const void *, size_t, const void *, size_t);
    return (const char *)memmem(bytes, count, text, length);
}

// Parses one line, which ends in NUL. What the line does not say is NaN or empty afterwards: nothing lingers from the one before.
static inline void cgps_unpack(char *line, struct gps_data_t *data) {
    gps_clear_fix(&data->fix);
    data->dev.path[0] = '\0';
    (void)gps_unpack(line, data);
}

// The device that shipped what was unpacked last.
static inline const char *cgps_device(const struct gps_data_t *data) { return data->dev.path; }

// The error statistics that were unpacked last; they left the union at API 14. Valid until the next unpacking.
static inline const struct gst_t *cgps_gst(const struct gps_data_t *data) { return &data->gst; }

// The calling thread, for a timer that signals it; gettid(2) is not in Swift's Glibc module.
static inline pid_t cgps_thread(void) { return (pid_t)syscall(SYS_gettid); }

#endif
