// inflateInit2 is a macro, which Swift does not import.
#pragma once
#include <zlib.h>

// Starts decompressing; detects gzip or zlib by the header.
static inline int czlib_inflate_init(z_stream *stream) { return inflateInit2(stream, 15 + 32); }

// Starts compressing to gzip.
static inline int czlib_deflate_init(z_stream *stream) {
    return deflateInit2(stream, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY);
}
