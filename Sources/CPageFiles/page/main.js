import { audio, Player } from './audio.js';
import { away } from './away.js';
import { Calls, Session } from './calls.js';
import { notify, openDialog, prepareDialogs } from './dialogs.js';
import { byId, setText, show } from './dom.js';
import { fetchSources } from './fetch.js';
import { clock, count, words } from './format.js';
import { Hub } from './hub.js';
import { keys } from './keys.js';
import { location } from './location.js';
import { log } from './log.js';
import { TrackMap } from './map.js';
import { Model } from './model.js';
import { Places } from './places.js';
import { push } from './push.js';
import { library, QueueList } from './queue.js';
import { tasks } from './tasks.js';
import { Track } from './track.js';
import { transfers } from './transfers.js';

let hub;
const session = new Session(() => {
  hub?.leave();
  showEnd();
});

function showEnd() {
  show(byId('main'), false);
  show(byId('ended'), true);
  setText(byId('connection'), 'Session ended');
  byId('connection').classList.remove('live', 'lost');
}

/** Starts the page: first what is on the screen, then the map. */
async function start() {
  if (!(await session.begin())) return showEnd();
  const calls = new Calls(session);
  // Nothing else is asked with a token that has expired.
  const page = await calls.get('/v1/web/page');
  const model = new Model();
  const context = { model, calls };
  document.body.classList.toggle('read-only', !calls.mayControl);
  show(byId('main'), true);

  const map = new TrackMap({
    moved: () => {
      track.moved();
      places.moved();
    },
    followed: (follows) => {
      if (hub) hub.follows = follows;
    },
    fit: () => track.fit(),
  });
  const track = new Track(context, map);
  const places = new Places(context, map);
  const player = new Player(context);
  location(context, map);
  audio(context, player);
  new QueueList(context, player);
  library(context);
  tasks(context);
  fetchSources(context);
  transfers(context);
  push(context);
  log(context);
  model.on(['connection'], () => {
    if (model.connection.state === 'lost') session.endIfExpired();
    drawConnection(model.connection);
  });
  model.on(['service'], () => drawService(model.status));
  prepareDialogs();
  byId('help-open').addEventListener('click', () => openDialog('help'));
  keys(player, calls.mayControl);
  hub = new Hub(calls, model);
  away(context);

  // The map is large: the rest is painted first.
  await new Promise((resolve) => requestAnimationFrame(resolve));
  await map.load(calls, page);
  return undefined;
}

function drawConnection({ state, since }) {
  const element = byId('connection');
  setText(element, state === 'live' ? 'Live' : state === 'lost' ? `Not live since ${clock(since)}` : 'Connecting');
  element.classList.toggle('live', state === 'live');
  element.classList.toggle('lost', state === 'lost');
}

/** @param {any} status A ServiceStatus. */
function drawService({ state, attached, since, version, health }) {
  const parts = [
    `${words(state)} since ${clock(since)}`,
    count(attached, 'attached client'),
    `version ${version}`,
    ...(health?.problems ?? []).map(({ message }) => message),
  ];
  setText(byId('service'), parts.join(' · '));
  byId('service').classList.toggle('warn', (health?.state ?? 'ok') !== 'ok');
}

start().catch(notify);
