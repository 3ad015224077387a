import { Presence } from './presence.js';
import { EventStream } from './stream.js';

const LOCK = 'backgrounder-stream';
/** Tuned: a leader answers within milliseconds; one that does not is frozen, and the page must be current within a second. */
const PATIENCE = 600;
/** All tabs hidden for this long: the stream is closed. */
const HIDDEN_FOR = 30_000;
/** A visible tab repeats its presence on every third tick; a tab that crashed is forgotten after this time. */
const LEASE = 45_000;
const SILENCE = 35_000;

/**
 * Shares one event stream among the tabs of this browser. A web lock makes one tab the leader, which reads the stream and
 * passes the events on; when it closes, the next tab gets the lock.
 */
export class Hub {
  #id = crypto.randomUUID();
  #channel = new BroadcastChannel('backgrounder');
  #calls;
  #model;
  #presence;
  /** @type {'follower' | 'leader' | 'out'} `out`: the session has ended. */
  #role = 'follower';
  #stream = null;
  /** @type {EventStream | null} The stream of a former leader, open until the new leader is live. */
  #old = null;
  #release = () => {};
  #waiting = new AbortController();
  #patience = 0;
  #hiding = 0;
  #lastHeard = Date.now();
  #ticks = 0;
  #tabs = new Map();

  /**
   * @param {import('./calls.js').Calls} calls
   * @param {import('./model.js').Model} model Receives the events and the state of the connection.
   */
  constructor(calls, model) {
    this.#calls = calls;
    this.#model = model;
    this.#channel.onmessage = ({ data }) => this.#received(data);
    this.#presence = new Presence({
      changed: () => this.#tellPresence(false),
      woke: () => this.#woke(),
      tick: () => this.#tick(),
    });
    addEventListener('pagehide', () => this.#channel.postMessage({ type: 'leave', id: this.#id }));
    document.addEventListener('freeze', () => this.#stepDown());
    document.addEventListener('resume', () => this.#contend(false));
    this.#contend(false);
    this.#tellPresence(true);
  }

  /** @param {boolean} follows Whether the map of this tab follows the position. */
  set follows(follows) {
    this.#presence.follows = follows;
  }

  /** Leaves the stream to other tabs, because the session of this one has ended. */
  leave() {
    this.#role = 'out';
    clearTimeout(this.#patience);
    this.#waiting.abort();
    this.#stream?.close();
    this.#stream = null;
    this.#release();
    this.#channel.postMessage({ type: 'leave', id: this.#id });
    this.#channel.close();
  }

  /** @param {boolean} steal Whether to take the lock from a leader that does not answer. */
  async #contend(steal) {
    this.#waiting.abort();
    this.#waiting = new AbortController();
    const { signal } = this.#waiting;
    try {
      // A request that steals cannot have a signal.
      await navigator.locks.request(LOCK, steal ? { steal } : { signal }, () => {
        if (this.#role === 'out') return undefined;
        this.#lead();
        return new Promise((resolve) => (this.#release = () => resolve(undefined)));
      });
    } catch {
      if (signal.aborted) return;
      // Another tab stole the lock.
      this.#stepDown();
      if (this.#role !== 'out') this.#contend(false);
    }
  }

  #lead() {
    clearTimeout(this.#patience);
    this.#role = 'leader';
    // This tab may have stolen the lock from itself, when it was granted late.
    this.#stream?.close();
    this.#stream = new EventStream(this.#calls, {
      event: (name, data) => this.#pass({ type: 'event', name, data }),
      beat: () => this.#pass({ type: 'beat' }),
      connection: (connection) => this.#pass({ type: 'connection', connection }),
    });
    this.#channel.postMessage({ type: 'lead', id: this.#id });
    this.#decide();
  }

  #stepDown() {
    if (this.#role !== 'leader') return;
    this.#role = 'follower';
    this.#old?.close();
    this.#old = this.#stream;
    this.#stream = null;
    setTimeout(() => this.#closeOld(), 3000);
    this.#release();
  }

  #closeOld() {
    this.#old?.close();
    this.#old = null;
  }

  /** Passes a message of the stream to all tabs, this one included. */
  #pass(message) {
    if (this.#role !== 'leader') return;
    this.#channel.postMessage(message);
    this.#apply(message);
    if (message.type === 'beat') this.#decide();
  }

  #apply(message) {
    this.#lastHeard = Date.now();
    switch (message.type) {
      case 'event':
        this.#model.apply(message.name, message.data);
        break;
      case 'connection':
        this.#model.setConnection(message.connection);
        break;
      case 'snapshot':
        this.#model.setConnection(message.connection);
        if (message.snapshot) this.#model.restore(message.snapshot);
    }
  }

  #received(message) {
    switch (message.type) {
      case 'presence':
        if (this.#role === 'leader') this.#heardPresence(message);
        break;
      case 'leave':
        this.#tabs.delete(message.id);
        this.#decide();
        break;
      case 'snapshot':
        if (message.to === this.#id) this.#heardLeader(message);
        break;
      case 'lead':
        this.#heardLeader(message);
        this.#tellPresence(true);
        break;
      default:
        this.#heardLeader(message);
    }
  }

  #heardLeader(message) {
    clearTimeout(this.#patience);
    if (message.type === 'connection' && message.connection.state === 'live') this.#closeOld();
    if (this.#role === 'follower') this.#apply(message);
  }

  #heardPresence({ id, visible, active, ask, woke }) {
    this.#tabs.set(id, { visible, active, at: Date.now() });
    this.#decide();
    if (woke) this.#stream?.wake();
    if (!ask) return;
    const connection = this.#stream?.connection;
    this.#channel.postMessage({ type: 'snapshot', to: id, connection, snapshot: this.#model.snapshot() });
  }

  /** Opens, changes or closes the stream, as the tabs need it. */
  #decide() {
    if (this.#role !== 'leader') return;
    const now = Date.now();
    for (const [id, tab] of this.#tabs) if (now - tab.at > LEASE) this.#tabs.delete(id);
    const all = [this.#presence.now, ...this.#tabs.values()];
    if (all.some((tab) => tab.visible)) {
      clearTimeout(this.#hiding);
      this.#hiding = 0;
      this.#stream?.want(all.some((tab) => tab.active) ? 'attached' : 'observing');
    } else if (!this.#hiding) {
      this.#hiding = setTimeout(() => this.#stream?.want('closed'), HIDDEN_FOR);
    }
  }

  /** @param {boolean} ask Whether the leader is to answer with the present state. */
  #tellPresence(ask, woke = false) {
    if (this.#role === 'out') return;
    if (this.#role === 'leader') {
      this.#decide();
      if (woke) this.#stream?.wake();
      return;
    }
    const { visible, active } = this.#presence.now;
    this.#channel.postMessage({ type: 'presence', id: this.#id, visible, active, ask, woke });
    if (!ask || !visible) return;
    clearTimeout(this.#patience);
    this.#patience = setTimeout(() => this.#contend(true), PATIENCE + Math.random() * 200);
  }

  #woke() {
    this.#tellPresence(true, true);
  }

  #tick() {
    this.#ticks += 1;
    if (this.#role === 'follower' && Date.now() - this.#lastHeard > SILENCE) {
      this.#model.setConnection({ state: 'lost', since: this.#lastHeard });
      this.#tellPresence(true);
    } else if (this.#role === 'leader' || this.#ticks % 3 === 0) {
      this.#tellPresence(false);
    }
  }
}
