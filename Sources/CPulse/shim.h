#pragma once
#include <dlfcn.h>
#include <pulse/pulseaudio.h>
#include <stddef.h>

#define CPULSE_FUNCTIONS(function)                                                                                     \
    function(context_connect) function(context_disconnect) function(context_get_server_info)                           \
    function(context_get_sink_info_list) function(context_get_state) function(context_new) function(context_unref)     \
    function(mainloop_dispatch) function(mainloop_free) function(mainloop_get_api) function(mainloop_new)              \
    function(mainloop_poll) function(mainloop_prepare) function(operation_cancel) function(operation_unref)

/// The functions of libpulse that list the sinks, without their prefix.
struct cpulse {
#define CPULSE_MEMBER(name) __typeof__(pa_##name) *_Nonnull name;
    CPULSE_FUNCTIONS(CPULSE_MEMBER)
#undef CPULSE_MEMBER
};

/// Loads libpulse. Returns `NULL` if it is not installed: the service needs it only where a sound server runs. For one call.
static inline const struct cpulse *_Nullable cpulse_load(void) {
    static struct cpulse pulse;
    void *library = dlopen("libpulse.so.0", RTLD_LAZY);
    if (library == NULL) return NULL;
#define CPULSE_FIND(name)                                                                                              \
    void *name = dlsym(library, "pa_" #name);                                                                          \
    if (name == NULL) return NULL;                                                                                     \
    pulse.name = (__typeof__(pa_##name) *)name;
    CPULSE_FUNCTIONS(CPULSE_FIND)
#undef CPULSE_FIND
    return &pulse;
}
