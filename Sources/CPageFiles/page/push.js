import { byId, h, Rows, setBadge, setText, show } from './dom.js';
import { clock, count, words } from './format.js';
import { Loader, whileSeen } from './loader.js';

/**
 * Subscriptions and the last messages.
 * @param {import('./calls.js').Context} context
 */
export function push({ model, calls }) {
  const rows = new Rows('push-rows', createRow, (each) => each.name);
  const alerts = new Rows('alerts', createAlert, (alert) => alert);
  const loader = new Loader(async () => rows.set(await calls.get('/v1/push')), 2000);

  model.on(['alerts'], () => {
    alerts.set(model.alerts);
    loader.request();
  });
  whileSeen(byId('push'), 15_000, () => loader.request());
  model.on(['resync'], () => loader.request());
}

function createRow({ name, url, topic }) {
  const state = h('span');
  const counts = h('span.muted');
  const error = h('p.warn');
  const head = h('div.entry-head', {}, h('strong', {}, name), state);
  return {
    element: h('li.entry', {}, head, h('div.entry-foot', {}, counts, h('code.muted', {}, `${topic} at ${url}`)), error),
    update: (each) => {
      setBadge(state, each.state, each.state === 'connected' ? 'good' : each.state === 'refused' ? 'bad' : '');
      const ignored = Object.entries(each.ignored).filter(([, number]) => number > 0);
      const texts = ignored.map(([reason, number]) => `${number} ${words(reason)}`);
      const remark = texts.length > 0 && `ignored: ${texts.join(', ')}`;
      setText(counts, [count(each.received, 'message'), remark].filter(Boolean).join(' · '));
      setText(error, each.lastError);
      show(error, Boolean(each.lastError));
    },
  };
}

function createAlert({ source, text, at }) {
  return { element: h('li', {}, h('span.muted', {}, `${clock(at)} ${source}`), h('span', {}, text)), update: () => {} };
}
