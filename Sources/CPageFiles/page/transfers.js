import { attempt } from './dialogs.js';
import { byId, h, Rows, setBadge, setText, show, textButton } from './dom.js';
import { fileName, relative, size, span } from './format.js';
import { Loader } from './loader.js';

const CLOSED = new Set(['done', 'failed', 'cancelled']);
const SHOWN = 50;

/**
 * Transfers with their progress.
 * @param {import('./calls.js').Context} context
 */
export function transfers({ model, calls }) {
  const rows = new Rows('transfer-rows', createRow);
  const loader = new Loader(async () => model.setTransfers(await calls.get('/v1/transfers')), 2000);

  byId('transfers-clear').addEventListener('click', async () => {
    await attempt(calls.delete('/v1/transfers'));
    loader.request();
  });

  function draw() {
    const open = model.transfers.filter((transfer) => !CLOSED.has(transfer.state)).reverse();
    const ended = model.transfers.filter((transfer) => CLOSED.has(transfer.state)).reverse();
    rows.set([...open, ...ended].slice(0, SHOWN));
    show(byId('transfers-clear'), ended.length > 0);
  }

  function createRow({ id, destination, direction, url }) {
    const path = `/v1/transfers/${Number(id)}`;
    const name = fileName(destination);
    const state = h('span');
    const progress = h('span.muted');
    const error = h('p.warn');
    const bar = h('progress', { max: 1, 'aria-label': 'Progress' });
    const act = async (call) => {
      const transfer = await attempt(call);
      if (transfer) model.setTransfers([transfer], true);
    };
    const pause = textButton('Pause', name, () => act(calls.post(`${path}/pause`)));
    const resume = textButton('Resume', name, () => act(calls.post(`${path}/resume`)));
    const cancel = textButton('Cancel', name, () => act(calls.delete(path)));
    const actions = h('span.actions.control', {}, pause, resume, cancel);
    const element = h(
      'li.entry',
      {},
      h('div.entry-head', {}, h('strong', {}, name), state, actions),
      bar,
      h('div.entry-foot', {}, progress, h('code.muted', {}, direction === 'put' ? `to ${url}` : `from ${url}`)),
      error,
    );
    return {
      element,
      update: (transfer) => {
        const closed = CLOSED.has(transfer.state);
        const { waitingFor } = transfer;
        const good = transfer.state === 'running' || transfer.state === 'done';
        const tone = transfer.state === 'failed' ? 'bad' : good ? 'good' : '';
        setBadge(state, waitingFor ? `waiting for ${waitingFor}` : transfer.state, tone);
        show(pause, !closed && transfer.state !== 'paused');
        show(resume, transfer.state === 'paused' || transfer.state === 'waiting');
        show(cancel, !closed);
        show(bar, !closed);
        if (transfer.total) bar.value = transfer.received / transfer.total;
        else bar.removeAttribute('value');
        setText(progress, progressText(transfer));
        setText(error, transfer.error);
        show(error, Boolean(transfer.error));
      },
    };
  }

  model.on(['transfers'], draw);
  model.on(['resync'], () => loader.request());
}

function progressText({ received, total, rate, remaining, next }) {
  const parts = [
    total ? `${size(received)} of ${size(total)} (${Math.floor((received / total) * 100)} %)` : size(received),
    rate !== undefined && `${size(rate)}/s`,
    remaining !== undefined && `${span(remaining)} left`,
    next && `again ${relative(next)}`,
  ];
  return parts.filter(Boolean).join(' · ');
}
