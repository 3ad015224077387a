#pragma once
#include <ao/ao.h>
#include <dlfcn.h>
#include <stddef.h>

static inline void cao_ignore_alsa_error(const char *file, int line, const char *function, int code, const char *format, ...) {}

/// Keeps libasound, if libao has loaded it, from writing its errors to stderr.
static inline void cao_silence_alsa(void) {
    typedef void handler(const char *, int, const char *, int, const char *, ...);
    void *library = dlopen("libasound.so.2", RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL) return;
    int (*set_handler)(handler *) = (int (*)(handler *))dlsym(library, "snd_lib_error_set_handler");
    if (set_handler != NULL) set_handler(cao_ignore_alsa_error);
}
