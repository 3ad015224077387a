// expat for Swift.
#ifndef BACKGROUNDER_CEXPAT_SHIM_H
#define BACKGROUNDER_CEXPAT_SHIM_H

#include <expat.h>

// Reads any encoding that expat does not know as one byte a character. All that is read of a track is ASCII, which the
// single-byte and the common East Asian encodings share.
static inline int cexpat_any_encoding(void *context, const XML_Char *name, XML_Encoding *encoding) {
    (void)context;
    (void)name;
    for (int byte = 0; byte < 256; byte++) encoding->map[byte] = byte;
    encoding->data = 0;
    encoding->convert = 0;
    encoding->release = 0;
    return XML_STATUS_OK;
}

#endif
