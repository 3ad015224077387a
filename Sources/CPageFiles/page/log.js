import { byId, h, setText, show } from './dom.js';
import { clock, moment } from './format.js';
import { Loader, whileSeen } from './loader.js';

const SHOWN = 300;
const INTERVAL = 3000;
const TYPING = 250;

/**
 * The newest lines of the log, by level and text.
 * @param {import('./calls.js').Context} context
 */
export function log({ model, calls }) {
  const list = byId('log-rows');
  const level = byId('log-level');
  const search = byId('log-search');
  /** The time of the newest line; the next load begins there. */
  let newest = '';
  /** Lines with this time, which the next load gets again. */
  let seen = new Set();
  let timer = 0;
  const loader = new Loader(load, 300);

  async function load() {
    const key = `${level.value} ${search.value}`;
    const query = { level: level.value, last: SHOWN };
    if (search.value) query.grep = search.value;
    if (newest) query.since = newest;
    const lines = await calls.get('/v1/log', query);
    if (key === `${level.value} ${search.value}`) append(lines);
    else loader.request();
  }

  function append(lines) {
    const fresh = lines.filter((line) => line.timestamp !== newest || !seen.has(line.message));
    const atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 40;
    if (fresh.length > 0) {
      list.append(...fresh.map(row));
      while (list.childElementCount > SHOWN) list.firstElementChild.remove();
      const last = fresh[fresh.length - 1].timestamp;
      if (last !== newest) seen = new Set();
      newest = last;
      for (const line of fresh) if (line.timestamp === last) seen.add(line.message);
      if (atEnd) list.scrollTop = list.scrollHeight;
    }
    show(byId('log-none'), list.childElementCount === 0);
    setText(byId('log-none'), search.value ? 'No line matches.' : 'No lines.');
  }

  function restart() {
    newest = '';
    seen = new Set();
    list.replaceChildren();
    loader.request();
  }

  level.addEventListener('change', restart);
  search.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(restart, TYPING);
  });
  whileSeen(byId('log'), INTERVAL, () => loader.request());
  model.on(['resync'], () => loader.request());
}

const TINTED = new Map([
  ['warning', 'warning'],
  ['error', 'error'],
  ['critical', 'error'],
]);

function row({ timestamp, level, message }) {
  const today = new Date(timestamp).toDateString() === new Date().toDateString();
  const time = h('time', {}, today ? clock(timestamp) : moment(timestamp));
  const element = h('li', {}, time, h('span.level', {}, level), h('span', {}, message));
  const tint = TINTED.get(level);
  if (tint) element.classList.add(tint);
  return element;
}
