import { byId, h, Rows, setText, show, svg } from './dom.js';
import { clock, count, distance, moment, span, speed } from './format.js';
import { Loader } from './loader.js';

/** The newest trips that are listed. */
const TRIPS = 100;
/** Tuned: a movement of the map ends before the line is requested. */
const SETTLED = 200;
const CHART_WIDTH = 600;

/** Which track the map shows: the rolling one, all, that of a period, or that of a trip. */
export class Track {
  #model;
  #calls;
  #map;
  #select = byId('track-select');
  /** @type {any[]} Newest first. */
  #trips = [];
  #options = new Map();
  #rows = new Rows('trips', (trip) => this.#createRow(trip));
  #loader = new Loader(() => this.#loadTrips(), 5000);
  #request = null;
  #timer = 0;
  /** @type {number | undefined} The start of the trip in progress, which tells when another one begins. */
  #tripStart;

  /**
   * @param {import('./calls.js').Context} context
   * @param {import('./map.js').TrackMap} map
   */
  constructor({ model, calls }, map) {
    this.#model = model;
    this.#calls = calls;
    this.#map = map;
    this.#select.addEventListener('change', () => this.#chosen());
    for (const id of ['period-from', 'period-until']) byId(id).addEventListener('change', () => this.#chosen());
    model.on(['track'], () => this.#drawLive());
    model.on(['location'], () => this.#noticeTrips());
    model.on(['resync'], () => this.#loader.request());
  }

  /** The map moved: the line is simplified for what it shows. */
  moved() {
    if (this.#choice === 'live') return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#loadLine(), SETTLED);
  }

  /** Shows the whole of the chosen track. */
  fit() {
    const bounds = this.#choice === 'live' ? boundsOfPoints(this.#model.track) : boundsOfTrips(this.#chosenTrips);
    if (bounds) this.#map.fit(bounds);
  }

  get #choice() {
    const { value } = this.#select;
    return /^\d/.test(value) ? Number(value) : value;
  }

  get #chosenTrips() {
    const choice = this.#choice;
    if (choice === 'all') return this.#trips;
    if (choice !== 'period') return this.#trips.filter((trip) => trip.id === choice);
    const { since = '', until = '9' } = this.#period;
    return this.#trips.filter((trip) => trip.end >= since && trip.start < until);
  }

  /** The chosen period in UTC; an open end is absent. */
  get #period() {
    const ends = [
      ['since', byId('period-from').value],
      ['until', byId('period-until').value],
    ];
    return Object.fromEntries(ends.filter(([, text]) => text).map(([name, text]) => [name, new Date(text).toISOString()]));
  }

  #chosen() {
    this.#request?.abort();
    show(byId('period'), this.#choice === 'period');
    this.#drawChosen();
    if (this.#choice === 'live') {
      this.#drawLive();
      this.fit();
      return;
    }
    this.#map.setTrack([]);
    this.fit();
    this.moved();
  }

  #drawChosen() {
    this.#rows.set(this.#trips);
    const choice = this.#choice;
    const trip = typeof choice === 'number' && this.#trips.find(({ id }) => id === choice);
    show(byId('speed'), Boolean(trip));
    if (!trip) return;
    const duration = `${distance(trip.distance)} in ${span(trip.duration)}`;
    setText(byId('speed-caption'), `${duration}, ${span(trip.movingTime)} moving, at most ${speed(trip.topSpeed)}`);
    byId('speed-chart').replaceChildren(speedChart(trip));
  }

  #drawLive() {
    if (this.#choice !== 'live') return;
    const segments = [];
    for (const { latitude, longitude, segmentStart } of this.#model.track) {
      if (segmentStart || segments.length === 0) segments.push([]);
      segments[segments.length - 1].push([latitude, longitude]);
    }
    this.#map.setTrack(segments);
  }

  async #loadLine() {
    const { view } = this.#map;
    const choice = this.#choice;
    if (!view || choice === 'live') return;
    this.#request?.abort();
    this.#request = new AbortController();
    const query = { bbox: view.bbox, zoom: view.zoom };
    if (typeof choice === 'number') query.trip = choice;
    if (choice === 'period') Object.assign(query, this.#period);
    try {
      const { segments } = await this.#calls.get('/v1/track/line', query, this.#request.signal);
      if (this.#choice === choice) this.#map.setTrack(segments);
    } catch {
      // The line of the next movement replaces it; the status "Connection" tells of an outage.
    }
  }

  #noticeTrips() {
    const start = this.#model.status.location?.trip?.start;
    if (start === this.#tripStart) return;
    this.#tripStart = start;
    this.#loader.request();
  }

  async #loadTrips() {
    const trips = await this.#calls.get('/v1/track/trips');
    this.#trips = trips.slice(-TRIPS).reverse();
    this.#drawOptions();
    this.#drawChosen();
  }

  #drawOptions() {
    const ids = new Set(this.#trips.map((trip) => trip.id));
    for (const [id, option] of this.#options) {
      if (ids.has(id)) continue;
      option.remove();
      this.#options.delete(id);
    }
    for (const trip of this.#trips) {
      let option = this.#options.get(trip.id);
      if (!option) {
        option = new Option('', String(Number(trip.id)));
        this.#options.set(trip.id, option);
      }
      setText(option, `${moment(trip.start)} · ${distance(trip.distance)}`);
      this.#select.append(option);
    }
  }

  #createRow(trip) {
    const detail = h('span.muted');
    const title = h('span');
    const choose = () => {
      this.#select.value = String(Number(trip.id));
      this.#chosen();
    };
    const button = h('button.row-button', { type: 'button', 'aria-pressed': 'false', click: choose }, title, detail);
    return {
      element: h('li', {}, button),
      update: (trip) => {
        setText(title, trip.inProgress ? `${moment(trip.start)}, in progress` : moment(trip.start));
        const parts = [distance(trip.distance), span(trip.duration), speed(trip.averageSpeed), count(trip.points, 'point')];
        setText(detail, parts.join(' · '));
        button.setAttribute('aria-pressed', String(this.#choice === trip.id));
      },
    };
  }
}

function boundsOfPoints(points) {
  if (points.length === 0) return null;
  const longitudes = points.map((point) => point.longitude);
  const latitudes = points.map((point) => point.latitude);
  return [Math.min(...longitudes), Math.min(...latitudes), Math.max(...longitudes), Math.max(...latitudes)];
}

function boundsOfTrips(trips) {
  if (trips.length === 0) return null;
  const bounds = trips.map((trip) => trip.bounds);
  const wests = bounds.map((box) => box.minLongitude);
  // A box around the antimeridian has its east beyond 180 degrees.
  const easts = bounds.map((box) => box.maxLongitude + (box.maxLongitude < box.minLongitude ? 360 : 0));
  const souths = bounds.map((box) => box.minLatitude);
  const norths = bounds.map((box) => box.maxLatitude);
  return [Math.min(...wests), Math.min(...souths), Math.max(...easts), Math.max(...norths)];
}

/** Returns a chart of a trip's speed over time. */
function speedChart({ speeds, start, end }) {
  const height = 110;
  const top = Math.max(...speeds, 1);
  const step = CHART_WIDTH / speeds.length;
  const y = (value) => (height - (value / top) * (height - 6)).toFixed(1);
  const steps = speeds.map((value, index) => `L${(index * step).toFixed(1)} ${y(value)}H${((index + 1) * step).toFixed(1)}`);
  const line = steps.join('').replace('L', 'M');
  const chart = svg(
    'svg',
    { viewBox: `0 0 ${CHART_WIDTH} ${height}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    svg('path', { class: 'area', d: `${line}V${height}H0Z` }),
    svg('path', { class: 'line', d: line }),
  );
  return h(
    'div.chart.speeds',
    {},
    h('span.axis-top.muted', {}, speed(top)),
    chart,
    h('div.axis.muted', {}, h('span', {}, clock(start)), h('span', {}, clock(end))),
  );
}
