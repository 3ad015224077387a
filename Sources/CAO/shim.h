#pragma once
#include <ao/ao.h>
#include <dlfcn.h>
#include <stddef.h>

static inline void shim_ignore_alsa_error(const char *file, int line, const char *function, int code, const char *format, ...) {}

/// Where libao has loaded libasound, keeps that from writing to stderr whatever it cannot open.
static inline void shim_silence_alsa(void) {
    typedef void handler(const char *, int, const char *, int, const char *, ...);
    void *library = dlopen("libasound.so.2", RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL) return;
    int (*set_handler)(handler *) = (int (*)(handler *))dlsym(library, "snd_lib_error_set_handler");
    if (set_handler != NULL) set_handler(shim_ignore_alsa_error);
}
