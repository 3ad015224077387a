import Glibc

/// Occupies closed standard descriptors, so that no file or socket opened later takes the place of stdin, stdout or stderr. Reading
/// or writing them fails as before (EBADF). Call it at the start of the process.
package func occupyStandardDescriptors() {
    for (descriptor, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
    where fcntl(descriptor, F_GETFD) < 0 {
        // open(2) returns the lowest free descriptor, which is this one.
        _ = open("/dev/null", mode)
    }
}
