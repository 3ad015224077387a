// A minimal MP3 player: libmpg123 into libao, without a queue, a store or commands.
//
//     bare_player FILE SECONDS            decodes only: the lower bound of every player
//     bare_player FILE SECONDS DRIVER     plays through a driver of libao, which sets the pace

#include <ao/ao.h>
#include <mpg123.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **arguments) {
    if (count < 3) return 64;
    mpg123_init();
    mpg123_handle *decoder = mpg123_new(NULL, NULL);
    long rate;
    int channels, encoding;
    mpg123_param(decoder, MPG123_ADD_FLAGS, MPG123_QUIET | MPG123_GAPLESS, 0);
    if (mpg123_open(decoder, arguments[1]) || mpg123_getformat(decoder, &rate, &channels, &encoding)) {
        fprintf(stderr, "cannot play %s\n", arguments[1]);
        return 1;
    }
    ao_device *device = NULL;
    if (count > 3) {
        ao_initialize();
        ao_sample_format format = {16, (int)rate, channels, AO_FMT_NATIVE, NULL};
        device = ao_open_live(ao_driver_id(arguments[3]), &format, NULL);
        if (!device) {
            fprintf(stderr, "cannot open %s\n", arguments[3]);
            return 1;
        }
    }
    size_t left = (size_t)atol(arguments[2]) * (size_t)rate * (size_t)channels * 2;
    // A tenth of a second, in whole frames.
    size_t step = (size_t)rate / 10 * (size_t)channels * 2;
    unsigned char *samples = malloc(step);
    size_t done = 0;
    while (left > 0 && mpg123_read(decoder, samples, step < left ? step : left, &done) == MPG123_OK) {
        if (device && !ao_play(device, (char *)samples, (uint_32)done)) return 1;
        left -= done;
    }
    if (device) ao_close(device);
    free(samples);
    return left > 0;
}
