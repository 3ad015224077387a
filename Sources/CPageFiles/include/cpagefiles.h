// The files of the page, embedded in the program.
#pragma once
#include <stddef.h>

struct page_file {
    // The path of its address.
    const char *path;
    const unsigned char *bytes;
    size_t size;
};

// Returns all files, which last as long as the program.
const struct page_file *cpagefiles_all(size_t *count);
