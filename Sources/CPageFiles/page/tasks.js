import { attempt, readText } from './dialogs.js';
import { byId, h, Rows, setBadge, setText, show, textButton } from './dom.js';
import { span, words } from './format.js';
import { Loader, whileSeen } from './loader.js';

const OPEN = new Set(['running', 'expiring']);
const SHOWN = 50;
const OUTPUT_INTERVAL = 2000;

/**
 * Tasks with their budgets and their output.
 * @param {import('./calls.js').Context} context
 */
export function tasks({ model, calls }) {
  const rows = new Rows('task-rows', createRow);
  const loader = new Loader(async () => model.setTasks(await calls.get('/v1/tasks')), 2000);

  byId('tasks-clear').addEventListener('click', async () => {
    await attempt(calls.delete('/v1/tasks'));
    loader.request();
  });

  function draw() {
    const open = model.tasks.filter((task) => OPEN.has(task.state)).reverse();
    const ended = model.tasks.filter((task) => !OPEN.has(task.state)).reverse();
    rows.set([...open, ...ended].slice(0, SHOWN));
    show(byId('tasks-clear'), ended.length > 0);
  }

  function createRow({ id, name, command }) {
    const state = h('span');
    const budget = h('span.muted');
    const bar = h('progress', { max: 1, 'aria-label': 'Used budget' });
    const end = textButton('End', name, () => attempt(calls.post(`/v1/tasks/${Number(id)}/end`)));
    end.classList.add('control');
    const output = textButton('Output', name, () => showOutput(id, name));
    const element = h(
      'li.entry',
      {},
      h('div.entry-head', {}, h('strong', {}, name), state, h('span.actions', {}, output, end)),
      bar,
      h('div.entry-foot', {}, budget, h('code.muted', {}, command.join(' ') || 'built-in sample')),
    );
    return {
      element,
      update: (task) => {
        const open = OPEN.has(task.state);
        const bad = task.state === 'failed' || task.state === 'lost';
        setBadge(state, words(task.state), bad ? 'bad' : open || task.state === 'finished' ? 'good' : '');
        show(end, open);
        show(bar, open);
        const left = remaining(task);
        bar.value = Math.min(1, (left === undefined ? task.used : task.budget - left) / task.budget);
        setText(budget, budgetText(task, left));
      },
    };
  }

  async function showOutput(id, name) {
    const set = readText(`Output of ${name}`);
    for (;;) {
      const output = await attempt(calls.get(`/v1/tasks/${Number(id)}/log`));
      if (!output || !set(output.text, output.truncated ? 'The task printed more than is kept.' : undefined)) return;
      if (!model.tasks.some((task) => task.id === id && OPEN.has(task.state))) return;
      await new Promise((resolve) => setTimeout(resolve, OUTPUT_INTERVAL));
    }
  }

  model.on(['tasks'], draw);
  whileSeen(byId('tasks'), 1000, () => {
    if (model.tasks.some((task) => task.remaining !== undefined)) model.touch('tasks');
  });
  model.on(['resync'], () => loader.request());
}

/** Returns the seconds left of a budget that counts; undefined while it does not. */
function remaining(task) {
  if (task.remaining === undefined) return undefined;
  return Math.max(0, task.remaining - (Date.now() - task.at) / 1000);
}

function budgetText(task, left) {
  if (!OPEN.has(task.state)) {
    const status = task.exitStatus === undefined ? '' : `, exit status ${task.exitStatus}`;
    return `used ${span(task.used)} of ${span(task.budget)}${status}${task.detail ? `, ${task.detail}` : ''}`;
  }
  if (left !== undefined) return `${span(left)} left of ${span(task.budget)}`;
  return `${span(task.budget - task.used)} left of ${span(task.budget)}, not counting`;
}
