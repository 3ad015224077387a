// inflateInit2 is a macro, which Swift does not import.
#pragma once
#include <zlib.h>

// Starts decompressing; detects gzip or zlib by the header.
static inline int czlib_inflate_init(z_stream *stream) { return inflateInit2(stream, 15 + 32); }
