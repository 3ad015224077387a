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
static inline int cmpg123_set_filesize(mpg123_handle *handle, long long size) {
    return mpg123_set_filesize(handle, (off_t)size);
}
static inline int cmpg123_set_index(mpg123_handle *handle, long long first, long long second, long long step) {
    off_t offsets[2] = {(off_t)first, (off_t)second};
    return mpg123_set_index(handle, offsets, (off_t)step, 2);
}
static inline long long cmpg123_feedseek(mpg123_handle *handle, long long sample, long long *offset) {
    off_t input = 0;
    off_t result = mpg123_feedseek(handle, (off_t)sample, SEEK_SET, &input);
    *offset = input;
    return result;
}
static inline long long cmpg123_seek(mpg123_handle *handle, long long sample) {
    return mpg123_seek(handle, (off_t)sample, SEEK_SET);
}
