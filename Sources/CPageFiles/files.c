// The files of the page, as parts of the program.
#include "cpagefiles.h"

// #embed is a part of C23.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char index_html[] = {
#embed "page/index.html"
};
static const unsigned char page_css[] = {
#embed "page/page.css"
};
static const unsigned char manifest_webmanifest[] = {
#embed "page/manifest.webmanifest"
};
static const unsigned char icon_svg[] = {
#embed "page/icon.svg"
};
static const unsigned char icon_192_png[] = {
#embed "page/icon-192.png"
};
static const unsigned char icon_512_png[] = {
#embed "page/icon-512.png"
};
static const unsigned char basemap_bin[] = {
#embed "page/basemap.bin"
};
static const unsigned char audio_js[] = {
#embed "page/audio.js"
};
static const unsigned char away_js[] = {
#embed "page/away.js"
};
static const unsigned char basemap_js[] = {
#embed "page/basemap.js"
};
static const unsigned char calls_js[] = {
#embed "page/calls.js"
};
static const unsigned char dialogs_js[] = {
#embed "page/dialogs.js"
};
static const unsigned char dom_js[] = {
#embed "page/dom.js"
};
static const unsigned char fetch_js[] = {
#embed "page/fetch.js"
};
static const unsigned char format_js[] = {
#embed "page/format.js"
};
static const unsigned char hub_js[] = {
#embed "page/hub.js"
};
static const unsigned char keys_js[] = {
#embed "page/keys.js"
};
static const unsigned char loader_js[] = {
#embed "page/loader.js"
};
static const unsigned char location_js[] = {
#embed "page/location.js"
};
static const unsigned char log_js[] = {
#embed "page/log.js"
};
static const unsigned char main_js[] = {
#embed "page/main.js"
};
static const unsigned char map_js[] = {
#embed "page/map.js"
};
static const unsigned char maplayers_js[] = {
#embed "page/maplayers.js"
};
static const unsigned char model_js[] = {
#embed "page/model.js"
};
static const unsigned char places_js[] = {
#embed "page/places.js"
};
static const unsigned char presence_js[] = {
#embed "page/presence.js"
};
static const unsigned char push_js[] = {
#embed "page/push.js"
};
static const unsigned char queue_js[] = {
#embed "page/queue.js"
};
static const unsigned char stream_js[] = {
#embed "page/stream.js"
};
static const unsigned char tasks_js[] = {
#embed "page/tasks.js"
};
static const unsigned char track_js[] = {
#embed "page/track.js"
};
static const unsigned char transfers_js[] = {
#embed "page/transfers.js"
};

#define FILE(name, bytes) { "/page/" name, bytes, sizeof bytes }

static const struct page_file files[] = {
    { "/", index_html, sizeof index_html },
    FILE("page.css", page_css),
    FILE("manifest.webmanifest", manifest_webmanifest),
    FILE("icon.svg", icon_svg),
    FILE("icon-192.png", icon_192_png),
    FILE("icon-512.png", icon_512_png),
    FILE("basemap.bin", basemap_bin),
    FILE("audio.js", audio_js),
    FILE("away.js", away_js),
    FILE("basemap.js", basemap_js),
    FILE("calls.js", calls_js),
    FILE("dialogs.js", dialogs_js),
    FILE("dom.js", dom_js),
    FILE("fetch.js", fetch_js),
    FILE("format.js", format_js),
    FILE("hub.js", hub_js),
    FILE("keys.js", keys_js),
    FILE("loader.js", loader_js),
    FILE("location.js", location_js),
    FILE("log.js", log_js),
    FILE("main.js", main_js),
    FILE("map.js", map_js),
    FILE("maplayers.js", maplayers_js),
    FILE("model.js", model_js),
    FILE("places.js", places_js),
    FILE("presence.js", presence_js),
    FILE("push.js", push_js),
    FILE("queue.js", queue_js),
    FILE("stream.js", stream_js),
    FILE("tasks.js", tasks_js),
    FILE("track.js", track_js),
    FILE("transfers.js", transfers_js),
};

const struct page_file *cpagefiles_all(size_t *count) {
    *count = sizeof files / sizeof files[0];
    return files;
}
