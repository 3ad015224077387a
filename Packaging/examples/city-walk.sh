#!/bin/sh
# A city walk whose stops speak: a recorded walk passes places, and a rule says their stories into HOME.wav.
#     city-walk.sh BIN HOME
. "$(dirname "$0")/common.sh" "$1" "$2"

wav=$home.wav
cp "$examples/../../tracks/city-walk.gpx" "$home/walk.gpx"
cat > "$home/tour.csv" <<'CSV'
id,name,latitude,longitude,radius,tags,story
1,Harbour station,53.54373,9.98254,25,story,The trains have come up here from below the river since nineteen twelve.
2,Quay,53.54368,9.98415,25,story,Sacks of coffee were lifted straight from the ships into these houses.
3,Footbridge,53.54351,9.98618,25,story,At high tide there is room for a barge below this bridge. At low tide there is mud.
4,Market square,53.54463,9.98680,30,story,Fish was sold here every morning until the last boat was gone.
5,Customs house,53.54541,9.98733,25,story,Whoever passed here with a full pocket had to empty it.
CSV
cat > "$home/config.yaml" <<YAML
modes: [audio, location]
location:
  source: gpx:walk.gpx?rate=40
  usageDescription: Tells the stories of a city walk
audio:
  driver: wav:story.wav
places:
  import: [tour.csv]
  rules:
    - name: story
      on: enter
      tags: [story]
      once: ever
      say: {text: "{name}. {story}", expires: 5m}
YAML

say "The rules at a desk, without a service"
show place replay "$home/walk.gpx" --places "$home/tour.csv" --rules "$home/config.yaml" 2>&1

say "backgrounder start"
backgrounder start

say "The walk, 40 times as fast"
attempts=0
until backgrounder location status --format json | grep -q '"finished"'; do
    attempts=$((attempts + 1))
    [ $attempts -lt 300 ] || { echo "the walk did not end within 150 seconds" >&2; exit 1; }
    sleep 0.5
done
show place log
backgrounder stop >/dev/null

say "The stories in one file"
# The service writes a file for each announcement, because the output closes between them.
cd "$home"
set --
for part in $(ls -tr story.wav*); do
    set -- "$@" -t wav "$part"
done
sox "$@" "$wav"
echo "$wav: $(ls story.wav* | wc -l) stories, $(soxi -D "$wav") s"
