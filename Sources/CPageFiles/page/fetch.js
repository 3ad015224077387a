import { attempt, readText } from './dialogs.js';
import { byId, h, Rows, setText, show, svg, textButton } from './dom.js';
import { moment, relative } from './format.js';
import { Loader, whileSeen } from './loader.js';

const CHART_WIDTH = 600;

/**
 * Fetch sources, their plan and the switches of Background App Refresh.
 * @param {import('./calls.js').Context} context
 */
export function fetchSources({ model, calls }) {
  const all = byId('refresh-all');
  const rows = new Rows('fetch-rows', createRow, (source) => source.name);
  const loader = new Loader(load, 1000);
  all.disabled = !calls.mayControl;
  all.addEventListener('change', () => change({ enabled: all.checked }));

  async function load() {
    const paths = ['/v1/fetch', '/v1/fetch-plan', '/v1/refresh'];
    const [sources, plan, refresh] = await Promise.all(paths.map((path) => calls.get(path)));
    rows.set(sources);
    show(byId('plan'), plan.length > 0);
    byId('plan-chart').replaceChildren(planChart(plan));
    all.checked = refresh.status !== 'denied';
  }

  async function change(body) {
    await attempt(calls.patch('/v1/refresh', body));
    loader.request();
  }

  function createRow({ name }) {
    const unseen = h('span.badge.good');
    const times = h('span.muted');
    const why = h('span.muted');
    const error = h('p.warn');
    const toggled = () => change({ enabled: toggle.checked, source: name });
    const toggle = h('input', { type: 'checkbox', role: 'switch', change: toggled });
    toggle.disabled = !calls.mayControl;
    const run = textButton('Run', name, () => runNow());
    run.classList.add('control');
    const open = textButton('Open', name, () => read());
    let kind = 'raw';

    async function runNow() {
      run.disabled = true;
      setText(run, 'Running');
      await attempt(calls.post(path(name, 'run')));
      run.replaceChildren('Run', h('span.sr', {}, ` ${name}`));
      run.disabled = false;
      loader.request();
    }

    async function read() {
      const set = readText(name);
      try {
        if (kind === 'feed') set(itemsText(await calls.get(path(name, 'items'))));
        else set(await calls.text(path(name, 'content')));
      } catch (error) {
        set(error.message);
        return;
      }
      if (calls.mayControl) await attempt(calls.post(path(name, 'open')));
      loader.request();
    }

    const head = h('div.entry-head', {}, h('strong', {}, name), unseen, h('span.actions', {}, open, run));
    const label = h('label.switch', {}, toggle, h('span', {}, 'Refresh', h('span.sr', {}, ` ${name} in the background`)));
    return {
      element: h('li.entry', {}, head, h('div.entry-foot', {}, times, label), why, error),
      update: (source) => {
        kind = source.kind;
        setText(unseen, source.unseen > 0 ? `${source.unseen} new` : '');
        show(unseen, source.unseen > 0);
        const next = source.pending ? 'running now' : source.next && `next ${relative(source.next)}`;
        const updated = source.updated ? `updated ${moment(source.updated)}` : 'not yet updated';
        setText(times, [updated, next].filter(Boolean).join(' · '));
        setText(why, source.why);
        toggle.checked = source.refresh !== 'denied';
        setText(error, source.lastError);
        show(error, Boolean(source.lastError));
      },
    };
  }

  model.on(['fetch', 'resync'], () => loader.request());
  whileSeen(byId('fetch'), 30_000, () => loader.request());
}

function path(name, action) {
  return `/v1/fetch/${encodeURIComponent(name)}/${action}`;
}

function itemsText(items) {
  return items
    .map(({ title, link, published }) => [title ?? link, published && moment(published), title && link].filter(Boolean).join('\n'))
    .join('\n\n');
}

/** Returns a chart of the planned fetches of a day: a line for each source, a mark for each run. */
function planChart(plan) {
  const now = Date.now();
  const day = 24 * 3600 * 1000;
  const sources = new Map();
  for (const { at, source } of plan) {
    const time = new Date(at).getTime();
    if (time > now + day) continue;
    sources.set(source, [...(sources.get(source) ?? []), Math.max(0, (time - now) / day)]);
  }
  const rows = [...sources].slice(0, 12).map(([source, times]) => {
    const marks = times.map((part) => svg('rect', { x: (part * (CHART_WIDTH - 4)).toFixed(1), y: 2, width: 4, height: 12, rx: 1 }));
    const next = `${times.length} planned, the next at ${moment(now + Math.min(...times) * day)}`;
    return h(
      'li',
      {},
      h('span.plan-name', {}, source, h('span.sr', {}, `: ${next}`)),
      svg('svg', { viewBox: `0 0 ${CHART_WIDTH} 16`, preserveAspectRatio: 'none', 'aria-hidden': 'true' }, ...marks),
    );
  });
  const hours = [0, 6, 12, 18, 24].map((hour) => h('span', {}, moment(now + (hour / 24) * day).split(', ').pop()));
  return h('div.chart.plan', {}, h('ul', {}, ...rows), h('div.axis.muted', { 'aria-hidden': 'true' }, ...hours));
}
