/**
 * The base map: coasts, country borders and lakes of the world, at scale 1:50m.
 *
 * `Packaging/basemap.py` writes `basemap.bin` and documents its format. The data is from Natural Earth, in the public domain.
 */

/**
 * The lines of the base map, decoded. A line is `[latitude, longitude, latitude, longitude, …]` in degrees, with at least two
 * vertices. No line crosses the antimeridian.
 *
 * To fill the land, fill one path of all coasts with the even-odd rule. To fill the lakes, do the same with all lakes: a ring inside
 * another is an island. Antarctica ends at latitude -86, beyond the edge of Web Mercator.
 *
 * @typedef {object} Basemap
 * @property {Float32Array[]} coasts Rings, and lines that end at the antimeridian.
 * @property {Float32Array[]} borders Each land border once, including disputed borders.
 * @property {Float32Array[]} lakes Rings.
 * @property {{coasts: Float32Array, borders: Float32Array, lakes: Float32Array}} bounds The bounding boxes: those of line `i` are
 *   the values from `4 * i`: south, west, north, east.
 */

const MAGIC = "BMAP";
const VERSION = 1;

/** Reads integers from bytes. */
class Reader {
    /** @param {Uint8Array} bytes */
    constructor(bytes) {
        this.bytes = bytes;
        this.position = 0;
    }

    /** @returns {number} The bytes that are left. */
    get left() {
        return this.bytes.length - this.position;
    }

    /** @returns {number} The next byte. */
    byte() {
        if (this.position >= this.bytes.length) {
            throw new Error(`the base map ends early, after ${this.bytes.length} bytes; load it again`);
        }
        return this.bytes[this.position++];
    }

    /** @returns {number} The next unsigned integer, of at most 32 bits. */
    integer() {
        let value = 0;
        for (let shift = 0; shift < 35; shift += 7) {
            const byte = this.byte();
            value |= (byte & 0x7f) << shift;
            if (byte < 0x80) {
                return value >>> 0;
            }
        }
        throw new Error(`the base map has an invalid integer before byte ${this.position}; load it again`);
    }

    /** @returns {number} The next signed integer. */
    signed() {
        const value = this.integer();
        return (value >>> 1) ^ -(value & 1);
    }

    /**
     * Reads a count, and checks it before the caller allocates memory for it.
     *
     * @param {number} size The least bytes of an item.
     * @returns {number} The count of the items that follow.
     */
    count(size) {
        const count = this.integer();
        if (count * size > this.left) {
            throw new Error(`the base map ends early, after ${this.bytes.length} bytes; load it again`);
        }
        return count;
    }
}

/**
 * Reads one layer.
 *
 * @param {Reader} reader
 * @param {number} unitsPerDegree
 * @returns {{lines: Float32Array[], bounds: Float32Array}}
 */
function readLayer(reader, unitsPerDegree) {
    const count = reader.count(5);
    const lines = new Array(count);
    const bounds = new Float32Array(4 * count);
    let latitude = 0;
    let longitude = 0;
    for (let index = 0; index < count; index++) {
        const line = new Float32Array(2 * reader.count(2));
        let south = Infinity;
        let west = Infinity;
        let north = -Infinity;
        let east = -Infinity;
        for (let at = 0; at < line.length; at += 2) {
            latitude += reader.signed();
            longitude += reader.signed();
            line[at] = latitude / unitsPerDegree;
            line[at + 1] = longitude / unitsPerDegree;
            south = Math.min(south, latitude);
            west = Math.min(west, longitude);
            north = Math.max(north, latitude);
            east = Math.max(east, longitude);
        }
        lines[index] = line;
        bounds.set([south / unitsPerDegree, west / unitsPerDegree, north / unitsPerDegree, east / unitsPerDegree], 4 * index);
    }
    return { lines, bounds };
}

/**
 * Decodes `basemap.bin`.
 *
 * @param {Uint8Array} bytes The whole file.
 * @returns {Basemap}
 * @throws {Error} If the bytes are not a base map, have another version, or are incomplete.
 */
export function decodeBasemap(bytes) {
    const reader = new Reader(bytes);
    for (let index = 0; index < MAGIC.length; index++) {
        if (bytes[index] !== MAGIC.charCodeAt(index)) {
            throw new Error(`not a base map: it does not start with ${MAGIC}; check the address`);
        }
        reader.position++;
    }
    const version = reader.byte();
    if (version !== VERSION) {
        throw new Error(`the base map has version ${version}, and this page reads version ${VERSION}; reload the page`);
    }
    const unitsPerDegree = reader.integer();
    const coasts = readLayer(reader, unitsPerDegree);
    const borders = readLayer(reader, unitsPerDegree);
    const lakes = readLayer(reader, unitsPerDegree);
    if (reader.left > 0) {
        throw new Error(`the base map has ${reader.left} bytes after its end; load it again`);
    }
    return {
        coasts: coasts.lines,
        borders: borders.lines,
        lakes: lakes.lines,
        bounds: { coasts: coasts.bounds, borders: borders.bounds, lakes: lakes.bounds },
    };
}

/**
 * Fetches and decodes the base map.
 *
 * @param {() => Promise<ArrayBuffer | Uint8Array>} fetchBytes Fetches `basemap.bin`.
 * @returns {Promise<Basemap>}
 * @throws {Error} What `fetchBytes` and `decodeBasemap` throw.
 */
export async function loadBasemap(fetchBytes) {
    return decodeBasemap(new Uint8Array(await fetchBytes()));
}
