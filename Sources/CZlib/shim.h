// zlib's way in for decompressing: a macro there, which Swift does not see.
#ifndef BACKGROUNDER_CZLIB_SHIM_H
#define BACKGROUNDER_CZLIB_SHIM_H

#include <zlib.h>

// Reads gzip and zlib, whichever it is.
static inline int czlib_inflate_init(z_stream *stream) { return inflateInit2(stream, 15 + 32); }

#endif
