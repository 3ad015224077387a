// Replaces the data of ICU, 34 MB of languages, calendars and time zones, with an empty table in the released service.
//
// GRDB and Yams link all of Foundation, but nothing that the service calls formats for a language: its times are in UTC or
// come from localtime(3). What asks ICU for data gets "not found". The layout is that of ICU's own stub (stubdata.cpp,
// https://unicode-org.github.io/icu/userguide/icu_data/). Debug builds keep the data, since tests compare with Foundation's
// calendars. The name of the symbol carries the version of ICU: 74 in Swift 6.2, 76 in Swift 6.3. With another toolchain
// this table would be ignored, and the program larger.

#include <stdint.h>

#if RELEASE

struct ICUData {
    uint16_t headerSize;
    uint8_t magic1, magic2;
    uint16_t infoSize, reserved;
    uint8_t isBigEndian, charset, charSize, reserved2;
    uint8_t format[4], formatVersion[4], dataVersion[4];
    char name[8];
    uint32_t count, padding;
};

__attribute__((aligned(16))) const struct ICUData icudt76_dat = {
    .headerSize = 32,
    .magic1 = 0xDA,
    .magic2 = 0x27,
    .infoSize = 20,
    .isBigEndian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
    .charSize = 2,
    .format = "ToCP",
    .formatVersion = {1},
    .name = "stubdata",
};

extern const struct ICUData icudt74_dat __attribute__((alias("icudt76_dat")));

#endif
