/** The layers below the track: the base map, and raster images of the service. */

/** Vertices in a piece of a line; only the pieces in a tile are drawn. */
const PIECE = 64;

/**
 * @typedef {object} Piece A part of a line or area, in Web Mercator from 0 to 1.
 * @property {Float64Array} points x, y, x, y, …
 * @property {number} west @property {number} east @property {number} north @property {number} south
 */

/**
 * Returns a layer that draws coasts, borders and lakes, or null while the service has no base map.
 * @param {any} L
 * @returns {Promise<any>}
 */
export async function basemapLayer(L) {
  let map;
  try {
    const path = '/page/basemap.js';
    const { loadBasemap } = await import(path);
    map = await loadBasemap(async () => (await fetch('/page/basemap.bin')).arrayBuffer());
  } catch {
    return null;
  }
  const land = map.coasts.map(area);
  const lakes = map.lakes.map(area);
  const coasts = map.coasts.flatMap(pieces);
  const borders = map.borders.flatMap(pieces);

  const Layer = L.GridLayer.extend({
    /** @param {{x: number, y: number, z: number}} coords */
    createTile(coords) {
      const size = this.getTileSize().x;
      const ratio = Math.min(devicePixelRatio, 2);
      const drawing = new OffscreenCanvas(size * ratio, size * ratio);
      const context = (drawing.getContext('2d'));
      const count = 2 ** coords.z * (256 / size);
      const view = { x: coords.x / count, y: coords.y / count, size: 1 / count, scale: count * size * ratio };
      const color = colors();
      fill(context, land, view, color('--map-land'));
      fill(context, lakes, view, color('--map-sea'));
      context.lineWidth = ratio;
      stroke(context, borders, view, color('--map-border'));
      context.lineWidth = 1.25 * ratio;
      stroke(context, coasts, view, color('--map-coast'));
      // A canvas that can still be drawn to costs time in each frame.
      const tile = document.createElement('canvas');
      tile.width = tile.height = drawing.width;
      tile.getContext('bitmaprenderer')?.transferFromImageBitmap(drawing.transferToImageBitmap());
      return tile;
    },
  });
  const layer = new Layer({ tileSize: 512, updateWhenZooming: false });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => layer.redraw());
  return layer;
}

/**
 * Returns a layer with the images of `/v1/map`, which need the token of the page.
 * @param {any} L
 * @param {import('./calls.js').Calls} calls
 * @param {{minZoom: number, maxZoom: number, bounds: number[]}} map
 */
export function rasterLayer(L, calls, { minZoom, maxZoom, bounds: [west, south, east, north] }) {
  const Layer = L.GridLayer.extend({
    createTile(coords, done) {
      const image = document.createElement('img');
      image.alt = '';
      loadTile(image, calls, coords).then(
        () => done(null, image),
        (error) => done(error, image),
      );
      return image;
    },
  });
  return new Layer({
    minNativeZoom: minZoom,
    maxNativeZoom: maxZoom,
    bounds: [[south, west], [north, east]],
    updateWhenZooming: false,
  });
}

async function loadTile(image, calls, { x, y, z }) {
  const blob = await calls.image(`/v1/map/${z}/${x}/${y}`);
  if (!blob) return;
  const url = URL.createObjectURL(blob);
  image.src = url;
  try {
    await image.decode();
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** Returns a reader of the colours of the style sheet. */
export function colors() {
  const style = getComputedStyle(document.documentElement);
  return (name) => style.getPropertyValue(name).trim();
}

/** @param {Float32Array} line Latitudes and longitudes. @returns {Piece} */
function area(line) {
  const points = new Float64Array(line.length);
  const bounds = { west: 1, east: 0, north: 1, south: 0 };
  for (let index = 0; index < line.length; index += 2) {
    const x = line[index + 1] / 360 + 0.5;
    const sine = Math.sin((Math.max(-85.06, Math.min(85.06, line[index])) * Math.PI) / 180);
    const y = 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI);
    points[index] = x;
    points[index + 1] = y;
    bounds.west = Math.min(bounds.west, x);
    bounds.east = Math.max(bounds.east, x);
    bounds.north = Math.min(bounds.north, y);
    bounds.south = Math.max(bounds.south, y);
  }
  return { points, ...bounds };
}

function pieces(line) {
  const parts = [];
  for (let start = 0; start + 2 < line.length; start += 2 * PIECE) {
    parts.push(area(line.subarray(start, start + 2 * PIECE + 2)));
  }
  return parts;
}

function fill(context, areas, view, color) {
  context.fillStyle = color;
  context.beginPath();
  trace(context, areas, view);
  context.fill('evenodd');
}

function stroke(context, lines, view, color) {
  context.strokeStyle = color;
  context.beginPath();
  trace(context, lines, view);
  context.stroke();
}

function trace(context, all, { x, y, size, scale }) {
  for (const { points, west, east, north, south } of all) {
    if (east < x || west > x + size || south < y || north > y + size) continue;
    context.moveTo((points[0] - x) * scale, (points[1] - y) * scale);
    for (let index = 2; index < points.length; index += 2) {
      context.lineTo((points[index] - x) * scale, (points[index + 1] - y) * scale);
    }
  }
}

/**
 * Loads Debian's Leaflet, a classic script that defines the global `L`. Its zoom and attribution controls and its popups
 * with text use innerHTML, which the page's policy refuses: use none of them.
 * @returns {Promise<any>} `L`
 */
export function loadLeaflet() {
  const sheet = document.createElement('link');
  sheet.rel = 'stylesheet';
  sheet.href = '/leaflet/leaflet.css';
  const script = document.createElement('script');
  script.src = scriptURL('/leaflet/leaflet.js');
  return new Promise((resolve, reject) => {
    const failed = () => reject(new Error('cannot load Leaflet'));
    sheet.onload = () => document.head.append(script);
    script.onload = () => resolve(window.L);
    sheet.onerror = script.onerror = failed;
    // Before our own style sheet, which adapts it.
    document.head.prepend(sheet);
  });
}

/** Trusted Types refuse plain text here. @param {string} url A literal. */
function scriptURL(url) {
  const { trustedTypes } = window;
  return trustedTypes?.createPolicy('leaflet', { createScriptURL: () => url }).createScriptURL('') ?? url;
}
