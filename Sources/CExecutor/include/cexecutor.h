#pragma once

/// Lets `enqueue` receive every job of Swift's default executor. Call it before the first task.
///
/// NIO has a function for that, but looks for the runtime's hook with dlsym(3), which finds nothing in a program that contains the
/// runtime.
void cexecutor_replace_default(void (*enqueue)(void *job));
