import { CallError } from './calls.js';

/**
 * Loads something at most once at a time and not too often; requests meanwhile cause one more load. Failures are left to
 * the status "Connection": the next change of the service loads again.
 */
export class Loader {
  #load;
  #interval;
  #timer = 0;
  #busy = false;
  #again = false;
  #last = -Infinity;

  /**
   * @param {() => Promise<void>} load
   * @param {number} [interval] The least time between two loads in ms.
   */
  constructor(load, interval = 500) {
    this.#load = load;
    this.#interval = interval;
  }

  /** Asks for a load. While the page is hidden, it waits until the page is visible. */
  request() {
    if (this.#timer) return;
    if (this.#busy) {
      this.#again = true;
      return;
    }
    const wait = Math.max(0, this.#last + this.#interval - performance.now());
    this.#timer = setTimeout(() => requestAnimationFrame(() => this.#run()), wait);
  }

  async #run() {
    this.#timer = 0;
    this.#busy = true;
    this.#last = performance.now();
    try {
      await this.#load();
    } catch (error) {
      if (!(error instanceof CallError || error instanceof DOMException)) throw error;
    } finally {
      this.#busy = false;
    }
    if (this.#again) {
      this.#again = false;
      this.request();
    }
  }
}

/**
 * Calls a function at an interval while the page is visible and an element is on the screen, and as soon as it appears.
 * @param {Element} element
 * @param {number} interval In ms.
 * @param {() => void} call
 */
export function whileSeen(element, interval, call) {
  let seen = false;
  let timer = 0;
  const update = () => {
    const active = seen && document.visibilityState === 'visible';
    if (active && !timer) {
      call();
      timer = setInterval(call, interval);
    } else if (!active) {
      clearInterval(timer);
      timer = 0;
    }
  };
  new IntersectionObserver((entries) => {
    seen = entries[entries.length - 1].isIntersecting;
    update();
  }).observe(element);
  document.addEventListener('visibilitychange', update);
}
