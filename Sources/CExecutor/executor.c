#include "cexecutor.h"

// Declared by the runtime (stdlib/public/Concurrency, "Hooks.h"). Its signature has been stable since Swift 5.5.
typedef __attribute__((swiftcall)) void (*Original)(void *job);
extern __attribute__((swiftcall)) void (*swift_task_enqueueGlobal_hook)(void *job, Original original);

static void (*receiver)(void *job);

static __attribute__((swiftcall)) void receive(void *job, Original original) {
    (void)original;
    receiver(job);
}

void cexecutor_replace_default(void (*enqueue)(void *job)) {
    receiver = enqueue;
    swift_task_enqueueGlobal_hook = receive;
}
