import { byId, h, Rows, setText, show } from './dom.js';
import { distance, moment, span } from './format.js';
import { Loader } from './loader.js';

/** Places in the list, and on the map. */
const LISTED = 30;
const DRAWN = 300;
const AROUND = 50_000;
/** The list is loaded again after the machine has moved so far, in degrees (some 500 m). */
const STEP = 0.005;

/** Places around the machine and on the map, and their events. */
export class Places {
  #model;
  #calls;
  #map;
  #rows = new Rows('place-rows', (place) => this.#createRow(place));
  #events = new Rows('place-events', (event) => this.#createEvent(event));
  #list = new Loader(() => this.#loadList(), 2000);
  #drawn = new Loader(() => this.#loadMap(), 300);
  /** @type {{latitude: number, longitude: number} | null} Where the list was loaded. */
  #at = null;

  /**
   * @param {import('./calls.js').Context} context
   * @param {import('./map.js').TrackMap} map
   */
  constructor({ model, calls }, map) {
    this.#model = model;
    this.#calls = calls;
    this.#map = map;
    model.on(['places'], () => this.#drawEvents());
    model.on(['location'], () => this.#noticeMovement());
    const past = new Loader(async () => model.setPlaceEvents(await calls.get('/v1/place-events', { last: 30 })));
    model.on(['resync'], () => {
      this.#list.request();
      past.request();
    });
  }

  /** The map moved: it shows the places that are in view. */
  moved() {
    this.#drawn.request();
  }

  #noticeMovement() {
    const fix = this.#model.status?.location?.lastFix;
    if (!fix) return;
    const moved = this.#at && Math.abs(fix.latitude - this.#at.latitude) + Math.abs(fix.longitude - this.#at.longitude);
    if (moved === null || moved > STEP) this.#list.request();
  }

  #drawEvents() {
    this.#events.set(this.#model.placeEvents);
    // An event changes whether the machine is inside.
    this.#list.request();
    this.#drawn.request();
  }

  async #loadList() {
    const fix = this.#model.status?.location?.lastFix;
    this.#at = fix ?? null;
    const near = fix && { near: `${fix.latitude},${fix.longitude}`, within: AROUND };
    const places = (await this.#calls.get('/v1/places', near ?? { count: LISTED })).slice(0, LISTED);
    setText(byId('places-title'), fix ? 'Nearest' : 'All');
    this.#rows.set(places);
  }

  async #loadMap() {
    const { view } = this.#map;
    if (!view) return;
    const { latitude, longitude, radius } = view;
    const query = { near: `${latitude.toFixed(5)},${longitude.toFixed(5)}`, within: Math.ceil(radius) };
    const places = await this.#calls.get('/v1/places', query);
    this.#map.setPlaces(places.slice(0, DRAWN));
  }

  #createRow(place) {
    const inside = h('span.badge.good', {}, 'inside');
    const detail = h('span.muted');
    const title = h('span');
    const look = () => this.#map.center(...centerOf(place.shape));
    const button = h('button.row-button', { type: 'button', click: look }, title, detail);
    return {
      element: h('li', {}, button, inside),
      update: (place) => {
        setText(title, place.name);
        const since = place.since && `since ${moment(place.since)}`;
        setText(detail, [shapeText(place.shape), place.tags.join(', '), since].filter(Boolean).join(' · '));
        show(inside, place.inside);
      },
    };
  }

  #createEvent(event) {
    const about = event.eta === undefined ? '' : ` in ${span(event.eta)}`;
    const marks = [event.initial && 'initial', event.estimated && 'estimated', event.simulated && 'simulated'];
    const actions = event.actions.map(({ rule, kind, outcome }) => `${rule}: ${kind} ${outcome}`);
    const details = [moment(event.timestamp), ...marks, ...actions].filter(Boolean).join(' · ');
    const look = () => this.#map.center(event.latitude, event.longitude);
    const title = h('span', {}, `${event.event} `, event.place, about);
    const button = h('button.row-button', { type: 'button', click: look }, title, h('span.muted', {}, details));
    return { element: h('li', {}, button), update: () => {} };
  }
}

function shapeText(shape) {
  switch (shape.type) {
    case 'circle':
      return `${distance(shape.radius)} around`;
    case 'polygon':
      return 'area';
    case 'line':
      return `line, ${distance(shape.width)} wide`;
  }
  return '';
}

/** @returns {[number, number]} Latitude and longitude of a place. */
function centerOf(shape) {
  if (shape.type === 'circle') return [shape.latitude, shape.longitude];
  const points = shape.type === 'polygon' ? shape.rings[0] : shape.points;
  const middle = (index) => {
    const values = points.map((point) => point[index]);
    return (Math.min(...values) + Math.max(...values)) / 2;
  };
  return [middle(1), middle(0)];
}
