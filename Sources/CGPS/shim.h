// libgps for Swift. Inline functions hide the differences between its versions. The layout of gps_data_t differs too, so a
// build only works with the version it was built against.
#pragma once
#include <errno.h>
#include <gps.h>
#include <string.h>

// API 9 brought struct timespec and altHAE/altMSL; Debian 11 has 9.0 and Debian 12 has 11.0.
#if GPSD_API_MAJOR_VERSION < 9
#error "libgps 3.20 or newer is needed (apt install libgps-dev)"
#endif

// The status of the fix (STATUS_...); API 10 moved it into gps_fix_t.
static inline int cgps_fix_status(const struct gps_data_t *data) {
#if GPSD_API_MAJOR_VERSION < 10
    return data->status;
#else
    return data->fix.status;
#endif
}

// The socket. API 14 made its type a typedef for int.
static inline int cgps_socket(const struct gps_data_t *data) { return (int)data->gps_fd; }

// The text for a failed gps_open. The code is in errno, not in the return value: negative if it is one of libgps, and that of
// connect(2) in API 16.
static inline int cgps_open(const char *host, const char *port, struct gps_data_t *data, const char **reason) {
    errno = 0;
    const int result = gps_open(host, port, data);
    *reason = result == 0 ? "" : errno > 0 ? strerror(errno) : gps_errstr(errno != 0 ? errno : result);
    return result;
}

// Parses a line, terminated by NUL. Fields that the line lacks are NaN or empty afterwards; no values of an earlier line stay.
static inline void cgps_unpack(char *line, struct gps_data_t *data) {
    gps_clear_fix(&data->fix);
    data->dev.path[0] = '\0';
    (void)gps_unpack(line, data);
}

// The device of the line that was unpacked last.
static inline const char *cgps_device(const struct gps_data_t *data) { return data->dev.path; }

// The error statistics of the line that was unpacked last; API 14 moved them out of the union. Valid until the next one.
static inline const struct gst_t *cgps_gst(const struct gps_data_t *data) { return &data->gst; }
