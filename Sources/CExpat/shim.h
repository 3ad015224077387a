// expat for Swift.
#pragma once
#include <expat.h>

// Reads an encoding that expat does not know as one byte per character. Only ASCII is read from a track, and single-byte and
// the common East Asian encodings contain it.
static inline int cexpat_any_encoding(void *context, const XML_Char *name, XML_Encoding *encoding) {
    (void)context;
    (void)name;
    for (int byte = 0; byte < 256; byte++) encoding->map[byte] = byte;
    encoding->data = 0;
    encoding->convert = 0;
    encoding->release = 0;
    return XML_STATUS_OK;
}

// The position of the current event, or of the error. expat 2.9 deprecates the functions whose results are 32 bits wide on some
// machines.
static inline long cexpat_line(XML_Parser parser) {
#if XML_MAJOR_VERSION > 2 || XML_MINOR_VERSION >= 9
    return (long)XML_GetCurrentLineNumber64(parser);
#else
    return (long)XML_GetCurrentLineNumber(parser);
#endif
}

static inline long cexpat_offset(XML_Parser parser) {
#if XML_MAJOR_VERSION > 2 || XML_MINOR_VERSION >= 9
    return (long)XML_GetCurrentByteIndex64(parser);
#else
    return (long)XML_GetCurrentByteIndex(parser);
#endif
}
