import { CallError } from './calls.js';

/** @typedef {'closed' | 'observing' | 'attached'} Wish */
/** @typedef {{state: 'connecting' | 'live' | 'lost' | 'paused', since: number}} Connection `since` in ms of the epoch. */

/** A comment comes every 15 s; two may be late. */
const SILENCE = 35_000;
/** After a wake, a stream that missed a comment is not worth waiting for. */
const STALE = 17_000;
const LONGEST_RETRY = 30_000;

/**
 * The event stream of the service. It reconnects by itself, and replaces the old stream by a new one without a gap when
 * the wish changes between `observing` and `attached`.
 */
export class EventStream {
  #calls;
  #handlers;
  #wish = 'closed';
  /** @type {Reader | null} The stream whose events count. */
  #current = null;
  /** @type {Reader | null} The stream that is being opened. */
  #next = null;
  #delay = 0;
  #retry = 0;
  #silence = 0;
  #lastHeard = Date.now();
  #connection = { state: 'connecting', since: Date.now() };

  /**
   * @param {import('./calls.js').Calls} calls
   * @param {{event: (name: string, data: any) => void, beat: () => void, connection: (c: Connection) => void}} handlers
   */
  constructor(calls, handlers) {
    this.#calls = calls;
    this.#handlers = handlers;
  }

  get connection() {
    return this.#connection;
  }

  /** @param {Wish} wish */
  want(wish) {
    if (wish === this.#wish) return;
    this.#wish = wish;
    if (wish === 'closed') {
      this.#stop();
      this.#report('paused');
    } else {
      this.#open();
    }
  }

  /** Makes up for a sleep: retries immediately, and replaces a stream that was silent for too long. */
  wake() {
    if (this.#wish === 'closed') return;
    const silent = Date.now() - this.#lastHeard > STALE;
    if (!this.#current || silent) {
      this.#delay = 0;
      this.#open();
    }
  }

  /** Closes the stream for good. */
  close() {
    this.#wish = 'closed';
    this.#stop();
  }

  #stop() {
    clearTimeout(this.#retry);
    clearTimeout(this.#silence);
    this.#next?.stop();
    this.#current?.stop();
    this.#next = this.#current = null;
    this.#delay = 0;
  }

  #open() {
    clearTimeout(this.#retry);
    this.#next?.stop();
    const attach = this.#wish === 'attached' ? 1 : 0;
    const reader = new Reader(this.#calls, attach, {
      heard: (event) => this.#heard(reader, event),
      ended: (error) => this.#ended(reader, error),
    });
    this.#next = reader;
    this.#watch();
  }

  #heard(reader, event) {
    if (reader === this.#next) {
      // The old stream ends only now, so that an attached client stays attached.
      this.#current?.stop();
      this.#current = reader;
      this.#next = null;
      this.#delay = 0;
      clearTimeout(this.#retry);
      this.#watch();
    }
    if (reader !== this.#current) return;
    this.#lastHeard = Date.now();
    if (this.#connection.state !== 'live') this.#report('live');
    if (event) this.#handlers.event(event.name, event.data);
    else this.#handlers.beat();
  }

  #ended(reader, error) {
    if (reader === this.#current) this.#current = null;
    else if (reader === this.#next) this.#next = null;
    else return;
    if (this.#wish === 'closed' || (error instanceof CallError && error.status === 401)) return;
    if (!this.#current) this.#report('lost');
    if (this.#next) return;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.#open(), this.#delay);
    this.#delay = Math.min(Math.max(1000, this.#delay * 2), LONGEST_RETRY);
  }

  /** One timer looks when the silence would be over, instead of one being set for each event. */
  #watch() {
    clearTimeout(this.#silence);
    const reader = this.#current ?? this.#next;
    if (!reader) return;
    const left = SILENCE - (Date.now() - Math.max(this.#lastHeard, reader.began));
    if (left > 0) {
      this.#silence = setTimeout(() => this.#watch(), left + 50);
      return;
    }
    reader.stop();
    this.#ended(reader);
    if (this.#next) this.#watch();
  }

  #report(state) {
    if (state === this.#connection.state) return;
    this.#connection = { state, since: state === 'lost' ? this.#lastHeard : Date.now() };
    this.#handlers.connection(this.#connection);
  }
}

/** One response of `/v1/events`, read to its end. */
class Reader {
  began = Date.now();
  #abort = new AbortController();

  /**
   * @param {import('./calls.js').Calls} calls
   * @param {0 | 1} attach
   * @param {{heard: (event?: {name: string, data: any}) => void, ended: (error?: unknown) => void}} handlers
   */
  constructor(calls, attach, handlers) {
    this.#read(calls, attach, handlers);
  }

  stop() {
    this.#abort.abort();
  }

  async #read(calls, attach, handlers) {
    let failure;
    try {
      const { signal } = this.#abort;
      const { body } = await calls.request('GET', '/v1/events', { query: { attach }, signal });
      const reader = body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = '';
      for (;;) {
        const { value, done } = await reader.read();
        if (done || signal.aborted) break;
        const blocks = (rest + value).split('\n\n');
        rest = blocks.pop() ?? '';
        for (const block of blocks) handlers.heard(parse(block));
      }
    } catch (error) {
      failure = error;
    }
    if (!this.#abort.signal.aborted) handlers.ended(failure);
  }
}

/** Returns the event of a block of lines; undefined for a comment. */
function parse(block) {
  let name = '';
  let data = '';
  for (const line of block.split('\n')) {
    if (line.startsWith('event:')) name = line.slice(6).trim();
    else if (line.startsWith('data:')) data += line.slice(5);
  }
  return name && data ? { name, data: JSON.parse(data) } : undefined;
}
