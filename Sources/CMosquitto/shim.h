#pragma once
#include <mosquitto.h>
#include <sys/eventfd.h>

// Creates a descriptor that wakes a thread out of poll(2), or returns -1 and errno. It has a name of its own, because two
// modules that import the same system function would both define it.
static inline int backgrounder_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }
