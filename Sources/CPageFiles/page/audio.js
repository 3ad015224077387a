import { attempt } from './dialogs.js';
import { byId, setNote, setText, show } from './dom.js';
import { count, fileName, itemTitle, length, words } from './format.js';

const OPTIONS = ['repeat', 'random', 'single', 'consume'];

/**
 * The current item, its position, the volume and the output.
 * @param {import('./calls.js').Context} context
 * @param {Player} player
 */
export function audio({ model, calls }, player) {
  const position = byId('position');
  const volume = byId('volume');
  const cover = coverOf(calls);
  /** @type {'position' | 'volume' | null} The slider that the user moves; it must not jump back meanwhile. */
  let held = null;

  for (const id of ['toggle', 'next', 'previous', 'position', 'volume']) byId(id).disabled = !calls.mayControl;
  byId('toggle').addEventListener('click', () => player.set(byId('toggle-name').textContent === 'Play'));
  byId('next').addEventListener('click', () => player.next());
  byId('previous').addEventListener('click', () => player.previous());
  position.addEventListener('input', () => {
    held = 'position';
    drawPosition(Number(position.value), model.time?.duration);
  });
  position.addEventListener('change', () => {
    held = null;
    player.seek(Number(position.value));
  });
  volume.addEventListener('input', () => {
    held = 'volume';
    player.change({ volume: Number(volume.value) });
  });
  volume.addEventListener('change', () => (held = null));
  for (const name of OPTIONS) {
    byId(name).addEventListener('click', () => player.change({ [name]: !isOn(model.status?.audio?.[name]) }));
  }
  byId('output').addEventListener('click', () => player.change({ outputEnabled: !model.status?.audio?.outputEnabled }));

  function draw() {
    const status = model.status?.audio;
    if (!status) return;
    const { currentItem: item, timeControlStatus: state } = status;
    setText(byId('now-playing'), item ? itemTitle(item) : 'Nothing');
    setText(byId('artist'), item && [item.artist, item.album].filter(Boolean).join(' · '));
    setText(byId('audio-state'), words(state));
    cover(item?.id);
    const name = state === 'playing' || state === 'waiting' ? 'Pause' : 'Play';
    setText(byId('toggle-name'), name);
    byId('toggle-icon').setAttribute('href', name === 'Pause' ? '#i-pause' : '#i-play');
    if (held !== 'volume') volume.value = status.volume;
    for (const option of OPTIONS) byId(option).setAttribute('aria-pressed', String(isOn(status[option])));
    byId('output').setAttribute('aria-pressed', String(status.outputEnabled));
    drawNotes(status);
    drawTime();
  }

  function drawTime() {
    if (held !== 'position') drawPosition(model.elapsed(), model.time?.duration);
  }

  function drawPosition(elapsed, duration) {
    position.max = Math.floor(duration ?? 0);
    if (held !== 'position') position.value = Math.floor(elapsed);
    position.setAttribute('aria-valuetext', `${length(elapsed)} of ${length(duration)}`);
    setText(byId('elapsed'), length(elapsed));
    setText(byId('duration'), length(duration));
  }

  model.on(['audio'], draw);
  model.on(['time'], drawTime);
}

/** @param {boolean | string | undefined} option `single` may also be `oneshot`. */
function isOn(option) {
  return option === true || option === 'oneshot';
}

function drawNotes(status) {
  const { announcement, announcements, lastError, buffering, underruns, interruptions } = status;
  const waiting = announcements ? `, ${count(announcements, 'more waits', 'more wait')}` : '';
  const music = announcement?.duck === undefined ? 'music on hold' : `music at ${Math.round(announcement.duck * 100)} %`;
  setNote('announcement', announcement && `Announcement ${fileName(announcement.path)}, ${music}${waiting}`);

  const broken = lastError && `${lastError.path ? `${fileName(lastError.path)}: ` : ''}${lastError.reason}`;
  setNote('audio-error', buffering ?? broken);

  const device = [status.driver === 'null' ? 'No sound device' : status.driver, status.device && `(${status.device})`];
  const parts = [
    device.filter(Boolean).join(' '),
    status.format,
    `${status.buffered.toFixed(1)} s buffered`,
    underruns ? count(underruns, 'underrun') : 'no underruns',
    interruptions ? count(interruptions, 'interruption') : 'no interruptions',
  ];
  setText(byId('output-health'), parts.filter(Boolean).join(' · '));
}

/** Returns a function that shows the cover of an item. */
function coverOf(calls) {
  const image = byId('cover');
  let shown;
  let url = '';
  return async (id) => {
    if (id === shown) return;
    shown = id;
    const blob = id === undefined ? null : await calls.image('/v1/audio/cover', { item: id }).catch(() => null);
    // Another item may have begun meanwhile.
    if (id !== shown) return;
    URL.revokeObjectURL(url);
    url = blob ? URL.createObjectURL(blob) : '';
    if (url) image.src = url;
    else image.removeAttribute('src');
    show(image, Boolean(url));
  };
}

/** Tuned: a held key or a moving slider sends at most this often, in ms. */
const PACE = 100;
/** The service follows a request within this time, in ms. */
const FOLLOWED = 700;

/** The commands of the player, for its buttons and for the keys. */
export class Player {
  #model;
  #calls;
  /** @type {Map<string, () => Promise<unknown>>} The newest unsent request of each kind. */
  #unsent = new Map();
  #aims = new Map();

  /** @param {import('./calls.js').Context} context */
  constructor({ model, calls }) {
    this.#model = model;
    this.#calls = calls;
  }

  /** The service decides, because the page may not know yet what another client did. */
  toggle() {
    this.#post('toggle');
  }

  /** @param {boolean} plays Whether the player is to play, or to pause. */
  set(plays) {
    this.#post(plays ? 'play' : 'pause');
  }

  next() {
    this.#post('next');
  }

  previous() {
    this.#post('previous');
  }

  /** @param {number} id Of an item of the queue. */
  play(id) {
    this.#post('play', { id });
  }

  /** @param {number} to Seconds. */
  seek(to) {
    this.#paced('seek', () => this.#calls.post('/v1/audio/seek', { to }));
  }

  /** @param {number} seconds Relative to the present position; beyond the end, the next item follows. */
  skip(seconds) {
    const { time } = this.#model;
    const target = Math.max(0, this.#aim('position', this.#model.elapsed()) + seconds);
    if (time?.duration !== undefined && target >= time.duration) {
      this.next();
      return;
    }
    this.#aims.set('position', { value: target, at: performance.now() });
    if (time) Object.assign(time, { elapsed: target, at: performance.now() });
    this.#model.touch('time');
    this.seek(target);
  }

  /** @param {object} change Of AudioChange. */
  change(change) {
    this.#paced(Object.keys(change)[0], () => this.#calls.patch('/v1/audio', change));
  }

  /** @param {number} step Percent points. */
  turn(step) {
    const audio = this.#model.status?.audio;
    if (!audio) return;
    audio.volume = Math.max(0, Math.min(100, this.#aim('volume', audio.volume) + step));
    this.#aims.set('volume', { value: audio.volume, at: performance.now() });
    this.#model.touch('audio');
    this.change({ volume: audio.volume });
  }

  /** Returns where the last key press leads while the service may not have followed it, otherwise the present value. */
  #aim(name, present) {
    const aim = this.#aims.get(name);
    return aim && performance.now() - aim.at < FOLLOWED ? aim.value : present;
  }

  #post(command, body) {
    this.#apply(this.#calls.post(`/v1/audio/${command}`, body));
  }

  /** Shows the reply immediately; the events that follow may be late. */
  async #apply(call) {
    const status = await attempt(call);
    if (status) this.#model.setAudio(status);
  }

  /** Sends the newest of many requests for the same thing. */
  #paced(name, send) {
    const waits = this.#unsent.has(name);
    this.#unsent.set(name, send);
    if (waits) return;
    setTimeout(() => {
      const newest = (this.#unsent.get(name));
      this.#unsent.delete(name);
      this.#apply(newest());
    }, PACE);
  }
}
