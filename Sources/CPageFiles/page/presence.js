/** How long a tab counts as used after a touch, a key or a movement of the pointer. */
const USED_FOR = 60_000;
/** Tuned: a reader needs no finer answer, and the pointer moves a hundred times a second. */
const USE_STEP = 5_000;
const TICK = 5_000;

/** @typedef {{visible: boolean, active: boolean}} Presence Whether a tab can be seen, and whether someone uses it. */

/** Watches whether this tab is visible and in use. */
export class Presence {
  #lastUse = Date.now();
  #lastTick = Date.now();
  #follows = false;
  #timer = 0;
  #handlers;
  #reported = null;

  /**
   * @param {{changed: (p: Presence) => void, woke: () => void, tick: () => void}} handlers
   * `woke` is called when the tab or the machine comes back; `tick` every 5 s while the tab is visible.
   */
  constructor(handlers) {
    this.#handlers = handlers;
    const used = () => this.#used();
    for (const name of ['pointerdown', 'pointermove', 'keydown', 'touchstart', 'wheel']) {
      addEventListener(name, used, { passive: true, capture: true });
    }
    document.addEventListener('visibilitychange', () => this.#visibilityChanged());
    addEventListener('pageshow', () => this.#visibilityChanged());
    addEventListener('online', () => this.#handlers.woke());
    if (this.#visible) this.#startTicking();
  }

  get now() {
    const visible = this.#visible;
    return { visible, active: visible && (this.#follows || Date.now() - this.#lastUse < USED_FOR) };
  }

  /** @param {boolean} follows Whether the map follows the position, which counts as use. */
  set follows(follows) {
    this.#follows = follows;
    this.#check();
  }

  get #visible() {
    return document.visibilityState === 'visible';
  }

  #used() {
    const now = Date.now();
    if (now - this.#lastUse < USE_STEP) return;
    this.#lastUse = now;
    this.#check();
  }

  #visibilityChanged() {
    clearInterval(this.#timer);
    this.#timer = 0;
    if (this.#visible) {
      this.#lastUse = Date.now();
      this.#startTicking();
    }
    this.#check();
    if (this.#visible) this.#handlers.woke();
  }

  #startTicking() {
    this.#lastTick = Date.now();
    this.#timer = setInterval(() => this.#tick(), TICK);
  }

  #tick() {
    const now = Date.now();
    // A timer that comes much too late means that the machine slept.
    const slept = now - this.#lastTick > 3 * TICK;
    this.#lastTick = now;
    this.#check();
    this.#handlers.tick();
    if (slept) this.#handlers.woke();
  }

  #check() {
    const { now } = this;
    if (now.visible === this.#reported?.visible && now.active === this.#reported?.active) return;
    this.#reported = now;
    this.#handlers.changed(now);
  }
}
