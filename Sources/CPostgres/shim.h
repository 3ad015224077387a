#pragma once
#include <dlfcn.h>
#include <postgresql/libpq-fe.h>
#include <stddef.h>

#define CPOSTGRES_FUNCTIONS(function)                                                                                  \
    function(clear) function(cmdTuples) function(connectdbParams) function(errorMessage) function(exec)                \
    function(execParams) function(finish) function(getResult) function(getisnull) function(getvalue)                   \
    function(nfields) function(ntuples) function(putCopyData) function(putCopyEnd) function(resultErrorMessage) function(resultStatus)   \
    function(status)

/// The functions of libpq that the collector uses, without their prefix.
struct __attribute__((swift_attr("@Sendable"))) cpostgres {
#define CPOSTGRES_MEMBER(name) __typeof__(PQ##name) *_Nonnull name;
    CPOSTGRES_FUNCTIONS(CPOSTGRES_MEMBER)
#undef CPOSTGRES_MEMBER
};

/// Loads libpq. Returns `NULL` if it is not installed: only a collector needs it. For one call.
static inline const struct cpostgres *_Nullable cpostgres_load(void) {
    static struct cpostgres postgres;
    void *library = dlopen("libpq.so.5", RTLD_LAZY);
    if (library == NULL) return NULL;
#define CPOSTGRES_FIND(name)                                                                                           \
    void *name = dlsym(library, "PQ" #name);                                                                           \
    if (name == NULL) return NULL;                                                                                     \
    postgres.name = (__typeof__(PQ##name) *)name;
    CPOSTGRES_FUNCTIONS(CPOSTGRES_FIND)
#undef CPOSTGRES_FIND
    return &postgres;
}
