#pragma once
#include <mpg123.h>
#include <stdio.h>
#include <sys/types.h>

// These functions are macros (for integer parameters since 1.31, or for the width of off_t), which Swift does not import.
static inline int cmpg123_set(mpg123_handle *handle, int parameter, long value) {
    return mpg123_param(handle, parameter, value, 0);
}
static inline int cmpg123_open(
    mpg123_handle *handle, void *user, ssize_t (*read)(void *, void *, size_t), off_t (*seek)(void *, off_t, int)
) {
    int result = mpg123_replace_reader_handle(handle, read, seek, NULL);
    return result == MPG123_OK ? mpg123_open_handle(handle, user) : result;
}
static inline int cmpg123_decode_frame(mpg123_handle *handle, unsigned char **audio, size_t *bytes) {
    off_t number;
    return mpg123_decode_frame(handle, &number, audio, bytes);
}
static inline long long cmpg123_frame_offset(mpg123_handle *handle) { return mpg123_framepos(handle); }
static inline long long cmpg123_length(mpg123_handle *handle) { return mpg123_length(handle); }
static inline long long cmpg123_seek(mpg123_handle *handle, long long sample) {
    return mpg123_seek(handle, (off_t)sample, SEEK_SET);
}
