#pragma once
#include <mosquitto.h>
#include <sys/eventfd.h>

// A descriptor that wakes a thread out of poll(2); -1 and errno. Under a name of ours, since two modules that show the same
// function of the system each claim it.
static inline int backgrounder_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }
