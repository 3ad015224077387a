/**
 * @typedef {import('./stream.js').Connection} Connection
 * @typedef {'service' | 'audio' | 'time' | 'queue' | 'location' | 'track' | 'tasks' | 'transfers' | 'fetch' | 'alerts'
 *   | 'places' | 'connection' | 'resync'} Topic A part of the model that is drawn together; `resync`: the stream is live again.
 */

/** Bounds of what is kept, so that memory stays constant however long the page is open. */
const TRACK_POINTS = 100;
const ENDED = 100;
const RECENT = 50;
/** Tuned: ms between two drawings. Ten fixes a second are not more readable than four, and cost more than twice as much. */
const PACE = 250;

const OPEN_TASK = new Set(['running', 'expiring']);
const CLOSED_TRANSFER = new Set(['done', 'failed', 'cancelled']);

/** What the page knows of the service. Readers are called once a frame, and only for the topics that changed. */
export class Model {
  /** @type {any} The newest ServiceStatus. */
  status = null;
  /** @type {any[]} The rolling track, oldest first. */
  track = [];
  /** @type {any[]} The items around the current one. */
  queue = [];
  queueLength = 0;
  /** @type {{itemID: number, elapsed: number, duration?: number, at: number} | null} `at` in ms of the page's clock. */
  time = null;
  /** @type {any[]} Open and ended tasks, by id. */
  tasks = [];
  /** @type {any[]} Open and ended transfers, by id. */
  transfers = [];
  /** @type {any[]} Push messages, newest first. */
  alerts = [];
  /** @type {any[]} Events at places, newest first. */
  placeEvents = [];
  /** @type {Connection} */
  connection = { state: 'connecting', since: Date.now() };

  #readers = new Map();
  #dirty = new Set();
  #scheduled = false;
  #lastDraw = 0;

  /**
   * Calls a function in the frame after one of the topics changed.
   * @param {Topic[]} topics
   * @param {() => void} draw
   */
  on(topics, draw) {
    for (const topic of topics) {
      if (!this.#readers.has(topic)) this.#readers.set(topic, new Set());
      this.#readers.get(topic)?.add(draw);
    }
  }

  /** @param {...Topic} topics The topics that are to be drawn in the next frame. */
  touch(...topics) {
    for (const topic of topics) this.#dirty.add(topic);
    if (this.#scheduled) return;
    this.#scheduled = true;
    const frame = () => requestAnimationFrame(() => this.#draw());
    const wait = this.#lastDraw + PACE - performance.now();
    if (wait > 0) setTimeout(frame, wait);
    else frame();
  }

  /** @param {Connection} connection */
  setConnection(connection) {
    // What happened without a stream must be loaded.
    if (connection.state === 'live' && this.connection.state !== 'live') this.touch('resync');
    this.connection = connection;
    this.touch('connection');
  }

  /**
   * Applies an event of the stream.
   * @param {string} name
   * @param {any} data
   */
  apply(name, data) {
    switch (name) {
      case 'state':
        return this.#applyState(data);
      case 'time':
        this.time = { ...data, at: performance.now() };
        return this.touch('time');
      case 'task':
        return this.setTasks([data], true);
      case 'transfer':
        return this.setTransfers([data], true);
      case 'fetch':
        return this.touch('fetch');
      case 'alert':
        this.alerts = [{ ...data, at: Date.now() }, ...this.alerts].slice(0, RECENT);
        return this.touch('alerts');
      case 'place':
        return this.setPlaceEvents([data]);
    }
    if (!this.status) return undefined;
    switch (name) {
      case 'location':
        return this.#applyLocation(data);
      case 'currentItem':
        this.status.audio = { ...this.status.audio, currentItem: data.item, elapsed: 0 };
        this.time = null;
        return this.touch('audio', 'time', 'queue');
      case 'lifecycle':
        Object.assign(this.status, data);
        return this.touch('service', 'tasks');
      case 'health':
        this.status.health = data;
        return this.touch('service');
    }
    return undefined;
  }

  /** @param {any} audio An AudioStatus. */
  setAudio(audio) {
    if (this.status) this.status.audio = audio;
    const { elapsed, currentItem } = audio ?? {};
    const { id: itemID, duration } = currentItem ?? {};
    this.time = elapsed === undefined ? null : { itemID, duration, elapsed, at: performance.now() };
    this.touch('audio', 'time');
  }

  /** Returns what another tab needs to show the same. */
  snapshot() {
    if (!this.status) return null;
    const { status, track, queue, queueLength, tasks, transfers, alerts, placeEvents } = this;
    const time = this.time && { ...this.time, elapsed: this.elapsed() };
    return { status, track, queue, queueLength, tasks, transfers, alerts, placeEvents, time };
  }

  /** @param {NonNullable<ReturnType<Model['snapshot']>>} snapshot Of another tab. */
  restore(snapshot) {
    Object.assign(this, snapshot);
    if (this.time) this.time.at = performance.now();
    this.touch('service', 'audio', 'time', 'queue', 'location', 'track', 'tasks', 'transfers', 'fetch', 'alerts', 'places');
  }

  /** Returns the position in the current item in seconds, continued since the last event. */
  elapsed() {
    const { time } = this;
    const audio = this.status?.audio;
    if (!time) return audio?.elapsed ?? 0;
    const playing = audio?.timeControlStatus === 'playing';
    const elapsed = time.elapsed + (playing ? Math.min((performance.now() - time.at) / 1000, 2) : 0);
    return Math.min(elapsed, time.duration ?? Infinity);
  }

  /**
   * @param {any[]} tasks
   * @param {boolean} [some] Whether they are only some of the tasks.
   */
  setTasks(tasks, some = false) {
    this.tasks = merge(some ? this.tasks : [], stamped(tasks), (task) => OPEN_TASK.has(task.state));
    this.touch('tasks');
  }

  /**
   * @param {any[]} transfers
   * @param {boolean} [some] Whether they are only some of the transfers.
   */
  setTransfers(transfers, some = false) {
    this.transfers = merge(some ? this.transfers : [], transfers, (transfer) => !CLOSED_TRANSFER.has(transfer.state));
    this.touch('transfers');
  }

  /** @param {any[]} events Events at places, oldest first. */
  setPlaceEvents(events) {
    const known = new Set(this.placeEvents.map((event) => event.id));
    const fresh = events.filter((event) => !known.has(event.id)).reverse();
    if (fresh.length === 0) return;
    this.placeEvents = [...fresh, ...this.placeEvents].sort((a, b) => b.id - a.id).slice(0, RECENT);
    this.touch('places');
  }

  #applyState({ status, track, queue, queueLength }) {
    const old = this.status ?? {};
    this.status = status;
    this.track = track;
    this.touch('service', 'location', 'track');
    if (!same(queue, this.queue) || queueLength !== this.queueLength) {
      Object.assign(this, { queue, queueLength });
      this.touch('queue');
    }
    this.setAudio(status.audio);
    if (!same(status.fetch, old.fetch)) this.touch('fetch');
    const open = status.tasks ?? [];
    this.setTasks([...this.tasks.filter((task) => !OPEN_TASK.has(task.state)), ...open]);
    if (status.transfers) this.setTransfers(status.transfers, true);
  }

  #applyLocation(fix) {
    const { location } = this.status;
    const rejected = Object.values(location.rejected).reduce((sum, count) => sum + count, 0);
    location.accepted += 1;
    location.received = location.accepted + rejected;
    location.lastFix = fix;
    this.track.push(fix);
    if (this.track.length > TRACK_POINTS) this.track.shift();
    this.touch('location', 'track');
  }

  #draw() {
    this.#scheduled = false;
    this.#lastDraw = performance.now();
    const draws = new Set();
    for (const topic of this.#dirty) for (const draw of this.#readers.get(topic) ?? []) draws.add(draw);
    this.#dirty.clear();
    for (const draw of draws) draw();
  }
}

/** Returns the entries of both lists by id, the newer ones first in question, with at most ENDED that are not open. */
function merge(known, news, isOpen) {
  const byId = new Map([...known, ...news].map((entry) => [entry.id, entry]));
  const all = [...byId.values()].sort((a, b) => a.id - b.id);
  const ended = all.filter((entry) => !isOpen(entry)).slice(-ENDED);
  return [...ended, ...all.filter(isOpen)].sort((a, b) => a.id - b.id);
}

/** Notes when each task was reported, since its budget counts down from there. */
function stamped(tasks) {
  return tasks.map((task) => (task.at ? task : { ...task, at: Date.now() }));
}

function same(a, b) {
  return JSON.stringify(a) === JSON.stringify(b);
}
