import { byId, icon, setNote } from './dom.js';
import { basemapLayer, colors, loadLeaflet, rasterLayer } from './maplayers.js';

const START_ZOOM = 15;

/** The map with the track, the position and the places. It shows what it was last told, also before Leaflet is loaded. */
export class TrackMap {
  #L = null;
  #map = null;
  #layers = {};
  /** @type {any} The last fix. */
  #fix = null;
  #segments = [];
  #places = [];
  #follows = false;
  #placed = false;
  /** What was last asked for: more than the view, so that a map that follows does not ask with each fix. */
  #area = null;
  #handlers;

  /** @param {{moved: () => void, followed: (follows: boolean) => void, fit: () => void}} handlers */
  constructor(handlers) {
    this.#handlers = handlers;
    byId('map-in').addEventListener('click', () => this.#map?.zoomIn());
    byId('map-out').addEventListener('click', () => this.#map?.zoomOut());
    byId('map-fit').addEventListener('click', () => handlers.fit());
    byId('map-follow').addEventListener('click', () => this.#follow(!this.#follows));
  }

  /**
   * Loads Leaflet and the layers.
   * @param {import('./calls.js').Calls} calls
   * @param {{map?: any, tiles?: string}} page The reply of `/v1/web/page`.
   */
  async load(calls, page) {
    const L = await loadLeaflet();
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
    this.#map = L.map('map', {
      zoomControl: false,
      attributionControl: false,
      preferCanvas: true,
      worldCopyJump: true,
      zoomAnimation: !still,
      fadeAnimation: !still,
      inertia: !still,
      minZoom: 2,
      maxZoom: 19,
    });
    this.#map.setView([30, 0], 2);
    this.#L = L;
    this.#addShapes();
    this.#map.on('moveend', () => this.#moved());
    this.#moved();
    this.#map.on('dragstart', () => this.#follow(false));
    new ResizeObserver(() => this.#map.invalidateSize({ pan: false })).observe(byId('map'));
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#restyle());
    this.#placed = false;
    this.#draw();
    this.#drawPlaces();
    await this.#addGround(calls, page);
  }

  /**
   * The area that the map shows, with some more around it; null before Leaflet is loaded.
   * @returns {{bbox: string, zoom: number, latitude: number, longitude: number, radius: number} | null}
   */
  get view() {
    if (!this.#map) return null;
    const { bounds, zoom } = this.#area;
    const round = (value, limit) => Math.max(-limit, Math.min(limit, value)).toFixed(5);
    const edges = [[bounds.getWest(), 180], [bounds.getSouth(), 90], [bounds.getEast(), 180], [bounds.getNorth(), 90]];
    const bbox = edges.map(([value, limit]) => round(value, limit)).join(',');
    const center = bounds.getCenter().wrap();
    const radius = Math.min(this.#map.distance(bounds.getCenter(), bounds.getNorthEast()), 1_000_000);
    return { bbox, zoom, latitude: center.lat, longitude: center.lng, radius };
  }

  /**
   * Shows a position. Moves the map only if it follows, or shows nothing yet.
   * @param {any} fix
   */
  setFix(fix) {
    this.#fix = fix;
    if (this.#map) this.#drawFix();
  }

  /** @param {number[][][]} segments Lines of [latitude, longitude]. */
  setTrack(segments) {
    this.#segments = segments;
    this.#layers.track?.setLatLngs(segments);
    this.#layers.edge?.setLatLngs(segments);
  }

  /** @param {any[]} places */
  setPlaces(places) {
    this.#places = places;
    if (this.#map) this.#drawPlaces();
  }

  /** @param {number[]} bounds west, south, east, north */
  fit([west, south, east, north]) {
    if (!this.#map) return;
    this.#follow(false);
    this.#placed = true;
    this.#map.fitBounds([[south, west], [north, east]], { padding: [30, 30], maxZoom: 17 });
  }

  /** Moves to a position. @param {number} latitude @param {number} longitude */
  center(latitude, longitude) {
    this.#follow(false);
    this.#map?.setView([latitude, longitude], Math.max(this.#map.getZoom(), START_ZOOM));
  }

  #follow(follows) {
    if (follows === this.#follows) return;
    this.#follows = follows;
    byId('map-follow').setAttribute('aria-pressed', String(follows));
    this.#handlers.followed(follows);
    if (follows && this.#fix && this.#map) {
      this.#map.setView([this.#fix.latitude, this.#fix.longitude], Math.max(this.#map.getZoom(), START_ZOOM));
    }
  }

  #moved() {
    const bounds = this.#map.getBounds();
    const zoom = this.#map.getZoom();
    if (zoom === this.#area?.zoom && this.#area.bounds.contains(bounds)) return;
    this.#area = { bounds: bounds.pad(0.3), zoom };
    this.#weighLines();
    this.#handlers.moved();
  }

  async #addGround(calls, { map, tiles }) {
    const ground = await basemapLayer(this.#L);
    ground?.addTo(this.#map);
    if (map) rasterLayer(this.#L, calls, map).addTo(this.#map);
    if (tiles) this.#L.tileLayer(tiles, { maxZoom: 19 }).addTo(this.#map);
    setNote('map-attribution', map?.attribution);
  }

  #addShapes() {
    const L = this.#L;
    const Arrow = L.Icon.extend({
      createIcon() {
        const element = document.createElement('div');
        element.className = 'arrow';
        element.append(icon('arrow'));
        return element;
      },
      createShadow: () => null,
    });
    const line = { interactive: false, lineJoin: 'round', smoothFactor: 0 };
    const fix = [0, 0];
    this.#layers = {
      places: L.layerGroup().addTo(this.#map),
      edge: L.polyline([], { ...line, weight: 7 }).addTo(this.#map),
      track: L.polyline([], { ...line, weight: 4 }).addTo(this.#map),
      accuracy: L.circle(fix, { radius: 0, interactive: false, weight: 1 }),
      arrow: L.marker(fix, { icon: new Arrow(), interactive: false, keyboard: false }),
    };
    this.#restyle();
  }

  #restyle() {
    const color = colors();
    this.#layers.edge.setStyle({ color: color('--card'), opacity: 0.8 });
    this.#layers.track.setStyle({ color: color('--track') });
    this.#layers.accuracy.setStyle({ color: color('--accent'), fillColor: color('--accent'), fillOpacity: 0.14 });
    this.#drawPlaces();
  }

  #draw() {
    this.setTrack(this.#segments);
    this.#drawFix();
  }

  #drawFix() {
    const { arrow, accuracy } = this.#layers;
    if (!this.#fix) return;
    const { latitude, longitude, horizontalAccuracy, course } = this.#fix;
    const position = [latitude, longitude];
    accuracy.setLatLng(position).setRadius(horizontalAccuracy ?? 0);
    arrow.setLatLng(position);
    if (!arrow._map) {
      accuracy.addTo(this.#map);
      arrow.addTo(this.#map);
    }
    const element = arrow.getElement();
    element.classList.toggle('still', course === undefined);
    element.firstChild.style.transform = `rotate(${Number(course ?? 0)}deg)`;
    if (!this.#placed) {
      this.#placed = true;
      this.#map.setView(position, START_ZOOM, { animate: false });
    } else if (this.#follows) {
      this.#map.panTo(position, { animate: false });
    }
  }

  #drawPlaces() {
    const { places } = this.#layers;
    places.clearLayers();
    const color = colors();
    for (const place of this.#places) {
      const tint = color(place.inside ? '--place-inside' : '--place');
      const layer = this.#shape(place.shape, { color: tint, fillColor: tint, fillOpacity: 0.14, weight: 1.5 });
      if (!layer) continue;
      // A tooltip of an element: one of a text would use innerHTML.
      const name = document.createElement('span');
      name.textContent = place.name;
      layer.bindTooltip(name, { sticky: true });
      layer.addTo(places);
    }
    this.#weighLines();
  }

  /** @returns {any} The layer of a PlaceShape. */
  #shape(shape, style) {
    const L = this.#L;
    const turn = ([longitude, latitude]) => [latitude, longitude];
    switch (shape.type) {
      case 'circle':
        return L.circle([shape.latitude, shape.longitude], { ...style, radius: shape.radius });
      case 'polygon':
        return L.polygon(shape.rings.map((ring) => ring.map(turn)), { ...style, fillRule: 'evenodd' });
      case 'line':
        return L.polyline(shape.points.map(turn), { ...style, opacity: 0.35, lineCap: 'round', width: shape.width });
    }
    return null;
  }

  /** Lines have a width in metres, so their pixels depend on the zoom. */
  #weighLines() {
    this.#layers.places.eachLayer((layer) => {
      const { width } = layer.options;
      if (!width) return;
      const { lat } = layer.getBounds().getCenter();
      const metres = (40_075_016 * Math.cos((lat * Math.PI) / 180)) / (256 * 2 ** this.#map.getZoom());
      layer.setStyle({ weight: Math.max(3, width / metres) });
    });
  }
}
