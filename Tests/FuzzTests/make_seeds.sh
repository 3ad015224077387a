#!/bin/sh
# Usage: make_seeds.sh TARGET FOLDER. Writes the seeds of the fuzzer: small valid inputs, and the inputs that it found before.
set -eu

here=$(dirname "$(realpath "$0")")
tests=$here/..
target=$1
mkdir -p "$2"
cd "$2"
[ ! -d "$here/Found/$target" ] || cp "$here/Found/$target"/* .

sounds() {
    sox -D -n -r 22050 -c 2 -b 16 16.wav synth 0.15 sine 440-1320 sine 660-440 gain -6
    for kind in "24.wav -b 24" "float.wav -e floating-point -b 32" "ulaw.wav -e mu-law" "ima.wav -e ima-adpcm" "ms.wav -e ms-adpcm" \
        "16.flac" "16.aiff" "16.au" "24.caf -b 24" "16.w64"; do
        # shellcheck disable=SC2086 # a name and its options
        set -- $kind
        file=$1
        shift
        sox -D 16.wav "$@" "$file"
    done
    lame --quiet -b 64 --add-id3v2 --tt Title 16.wav cbr.mp3
    lame --quiet -V 5 -t 16.wav vbr.mp3
    lame --quiet --freeformat -b 200 16.wav free.mp3
    lame --quiet -b 8 -m m --resample 8 16.wav low.mp3
    lame --quiet -b 128 -p --resample 44.1 16.wav mpeg1.mp3
    oggenc -Q -q 0 -o vorbis.ogg 16.wav
    opusenc --quiet --bitrate 32 16.wav opus.ogg
}

gpsd_lines() {
    cat > drive.jsonl << 'END'
{"class":"VERSION","release":"3.22","rev":"3.22","proto_major":3,"proto_minor":14}
{"class":"DEVICES","devices":[{"class":"DEVICE","path":"/dev/gps0","driver":"NMEA0183","activated":"2026-05-04T10:00:00.000Z"}]}
{"class":"WATCH","enable":true,"json":true}
{"class":"TPV","device":"/dev/gps0","status":2,"mode":3,"time":"2026-05-04T10:00:01.000Z","ept":0.005,"lat":52.520008,"lon":13.404954,"altHAE":80.1,"altMSL":34.2,"epx":2.1,"epy":2.3,"epv":4.6,"track":12.4,"speed":3.1,"eph":5.2}
{"class":"SKY","device":"/dev/gps0","hdop":0.9,"satellites":[{"PRN":1,"el":20,"az":120,"ss":31,"used":true}]}
{"class":"GST","device":"/dev/gps0","time":"2026-05-04T10:00:02.000Z","rms":1.2,"major":2.1,"minor":1.1,"orient":12.0,"lat":1.5,"lon":1.4,"alt":3.2}
{"class":"TPV","device":"/dev/gps0","mode":2,"time":"2026-05-04T10:00:03.500Z","lat":-52.52,"lon":-179.99999,"epx":12,"epy":14}
{"class":"ERROR","message":"unrecognized request"}
{"class":"DEVICE","path":"/dev/gps0","activated":0}
END
    head -n 4 drive.jsonl | tail -n 1 > fix.jsonl
}

feeds() {
    cat > rss.xml << 'END'
<?xml version="1.0"?><rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><title>News</title><ttl>60</ttl>
<item><guid isPermaLink="false">1</guid><title>One &amp; <![CDATA[two]]></title><link>/one?a=1&amp;b=2</link><pubDate>Mon, 04 May 2026 10:00:00 GMT</pubDate>
<enclosure url="http://example.com/a.mp3" length="12" type="audio/mpeg"/></item></channel></rss>
END
    cat > atom.xml << 'END'
<feed xmlns="http://www.w3.org/2005/Atom" xml:base="http://example.com/b/"><title type="html">&lt;b&gt;News&lt;/b&gt;</title><entry><id>tag:1</id>
<title type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">One</div></title><link rel="alternate" href="../one"/>
<link rel="enclosure" href="a.mp3" length="12"/><updated>2026-05-04T10:00:00+02:00</updated></entry></feed>
END
    cat > rdf.xml << 'END'
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel rdf:about="http://example.com/"><title>N</title></channel>
<item rdf:about="http://example.com/1"><title>One</title><link>http://example.com/1</link></item></rdf:RDF>
END
    cat > feed.json << 'END'
{"version":"https://jsonfeed.org/version/1.1","title":"News","items":[{"id":"1","url":"http://example.com/1","title":"One","date_published":"2026-05-04T10:00:00Z",
"attachments":[{"url":"http://example.com/a.mp3","mime_type":"audio/mpeg","size_in_bytes":12}]},{"id":2,"content_text":"\u00e9"}]}
END
}

request() { # NAME METHOD PATH [BODY]
    body=${4-}
    printf '%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %s\r\nConnection: close\r\n\r\n%s' \
        "$2" "$3" "${#body}" "$body" > "$1"
}

requests() {
    request status GET /v1/status
    request trips GET '/v1/track/trips?since=2026-05-04T10:00:00Z&limit=%35'
    request location PATCH /v1/location '{"updating":true,"desiredAccuracy":"best","distanceFilter":1e1,"maximumAccuracy":null}'
    request audio PATCH /v1/audio '{"volume":40,"repeat":false,"single":"oneshot","random":true,"replayGain":"track"}'
    request queue POST /v1/queue '{"items":["/a.mp3","/\u00e9\n.wav"],"position":1,"after":"current"}'
    request move PATCH /v1/queue/12 '{"position":3}'
    request remove POST /v1/queue/remove '{"ids":[1,2,2]}'
    request delete DELETE /v1/task-hooks/a%20b
    request task POST /v1/tasks '{"name":"id","command":["id","-u"],"budget":"180s","environment":{"A":"b"}}'
    request fetch POST /v1/fetch '{"name":"news","url":"https://example.com/feed","interval":"1h","hours":"08:00-18:00"}'
    request transfer POST /v1/transfers '{"url":"https://example.com/a.mp3","to":"/tmp/a.mp3","sha256":"00"}'
    request push POST /v1/push '{"name":"push","url":"mqtt://127.0.0.1:1883","topic":"a/+/#"}'
    request simulation POST /v1/push/push/simulate '{"payload":"{}"}'
    printf 'POST /v1/audio/seek HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"to"\r\n3\r\n:1}\r\n0\r\n\r\n' \
        > chunked
    printf 'GET /v1/status HTTP/1.1\r\nHost: evil.example\r\nOrigin: null\r\n\r\n' > foreign
}

mpd_lines() {
    printf 'status\nplay "1"\nseekcur +1.5\naddid "a \\"b\\".mp3" 0\nmove 1:3 0\n' > player
    printf 'find "((artist == '"'"'Ann'"'"') AND (!(album contains \\"live\\")))" window 0:10\nsearch any x base a/b\n' > search
    printf 'command_list_ok_begin\npassword x\ncount title y group artist\ncommand_list_end\nidle player mixer\nnoidle\n' > list
    printf 'list album "(modified-since '"'"'2026-05-04T10:00:00Z'"'"')"\r\nalbumart a.mp3 0\r\n' > dates
}

packets() {
    payload='{"content-available":1,"source":"news","id":"1","expires":4000000000,"alert":"New"}'
    granted='\040\002\000\000\220\003\000\001\001'
    # A PUBLISH with QoS 1: the rest is a topic of 6 bytes, an id and the payload.
    # shellcheck disable=SC2059 # the octal length is part of the format
    printf "$granted"'\062\'"$(printf %03o $((2 + 6 + 2 + ${#payload})))"'\000\006fuzz/a\000\001%s' "$payload" > message
    # shellcheck disable=SC2059
    printf "$granted"'\060\015\000\006fuzz/ahello\320\000' > ping
    printf '\040\002\000\005' > refused
    # shellcheck disable=SC2059
    { printf "$granted"'\061\210\200\002\000\006fuzz/a'; head -c 32768 /dev/zero; } > large
}

pages() {
    rm -f table.sqlite long.sqlite
    table='CREATE TABLE location (id INTEGER PRIMARY KEY, time INTEGER, latitude REAL, device TEXT)'
    rows='WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)'
    sqlite3 table.sqlite "PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL; $table;
        INSERT INTO location $rows SELECT i, 1700000000000 + i, i * 0.1, 'receiver' FROM n;"
    sqlite3 long.sqlite "PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL; $table;
        INSERT INTO location VALUES (-1, 0, 1, hex(zeroblob(6000))), (9223372036854775807, 1, 2.5, NULL);"
}

places() {
    cat > places.geojson << 'END'
{"type":"FeatureCollection","features":[{"type":"Feature","id":7,"geometry":{"type":"Point","coordinates":[13.4,52.5]},"properties":{"name":"A","radius":20,"tags":["a","b"],"course":90,"x":{"y":[1,true]}}},
{"type":"Feature","geometry":{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]],[[0.1,0.1],[0.2,0.1],[0.2,0.2],[0.1,0.1]]]},"properties":{"name":"\u00e9","tags":"a, b","tolerance":30}},
{"type":"Feature","geometry":{"coordinates":[[[[5,5],[6,5],[6,6],[5,5]]]],"type":"MultiPolygon"},"properties":{"name":"M"}},
{"type":"Feature","geometry":{"type":"LineString","coordinates":[[1,2],[3,4,5]]},"properties":{"name":"L","width":"12"}}]}
END
    cat > places.otrw << 'END'
{"_type":"waypoints","waypoints":[{"_type":"waypoint","desc":"Home","lat":52.5,"lon":13.4,"rad":150,"tst":1437552714,"rid":"a1b2"},{"desc":"B","lat":-1,"lon":2,"rad":0}]}
END
    printf 'Name,latitude,LONGITUDE,radius,tags,course,id,zone\r\n"A, ""b""",52.5,13.4,20,"x,y",90,1,B\n\nC,1,2,,,,,\n' > places.csv
    cat > places.gpx << 'END'
<?xml version="1.0"?><gpx version="1.1"><wpt lat="1" lon="2"><name>A &amp; B</name><sym>Flag</sym></wpt><wpt lat="3" lon="4"><name><![CDATA[C]]></name></wpt>
<rte><name>R</name><rtept lat="1" lon="2"><name>A</name></rtept><rtept lat="1.5" lon="2"/><rtept lat="3" lon="4"><name>C</name></rtept></rte>
<trk><name>T</name><trkseg><trkpt lat="1" lon="2"/><trkpt lat="3" lon="4"/></trkseg></trk></gpx>
END
    python3 - << 'END'
import zipfile
tables = {
    "stops.txt": "stop_id,stop_name,stop_lat,stop_lon,location_type,stop_code\na,A,1,2,0,c\nb,B,3,4,,\ns,S,1,1,1,\n",
    "routes.txt": "route_id,route_short_name\nr,M1\n",
    "trips.txt": "route_id,service_id,trip_id,trip_headsign,shape_id\nr,w,t1,\"To, B\",s1\n",
    "stop_times.txt": "trip_id,arrival_time,departure_time,stop_id,stop_sequence\nt1,23:59:00,24:00:00,a,1\nt1,25:00:00,,b,2\nt1,,,a,3\n",
    "shapes.txt": "shape_id,shape_pt_lat,shape_pt_lon,shape_pt_sequence,shape_dist_traveled\ns1,1,2,1,0\ns1,3,4,2,5.5\n",
}
for name, method in (("stored.zip", zipfile.ZIP_STORED), ("deflated.zip", zipfile.ZIP_DEFLATED)):
    with zipfile.ZipFile(name, "w", method) as archive:
        for table, text in tables.items():
            archive.writestr(table, text)
END
}

case $target in
    decoders) sounds ;;
    gpsd) gpsd_lines ;;
    gpx) find "$tests/LocationUpdatesTests/Wild" -name '*.gpx' -size -32k -exec cp {} . \; ;;
    feeds) feeds ;;
    http) requests ;;
    mpd) mpd_lines ;;
    mqtt) packets ;;
    pages) pages ;;
    places) places ;;
    *) echo "$0: unknown target $target" >&2; exit 64 ;;
esac
