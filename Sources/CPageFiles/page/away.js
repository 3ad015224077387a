import { byId, h, show } from './dom.js';
import { count, distance, fileName, moment } from './format.js';

const KEY = 'lastVisit';
/** A shorter absence needs no summary. */
const LEAST = 60_000;
/** Tuned: the time of the visit is noted this often while the page is visible. */
const NOTE = 30_000;
const WARNINGS = 5;

/**
 * The summary of what happened since the last visit of this browser. Only the time of the visit is stored.
 * @param {import('./calls.js').Context} context
 */
export async function away({ calls }) {
  const last = Number(localStorage.getItem(KEY));
  const note = () => {
    if (document.visibilityState === 'visible') localStorage.setItem(KEY, String(Date.now()));
  };
  note();
  setInterval(note, NOTE);
  addEventListener('pagehide', note);
  document.addEventListener('visibilitychange', () => localStorage.setItem(KEY, String(Date.now())));
  if (!last || Date.now() - last < LEAST) return;

  const since = new Date(last).toISOString();
  const parts = await Promise.allSettled([trips, places, fetches, ends, warnings].map((part) => part(calls, since)));
  const lines = parts.flatMap((part) => (part.status === 'fulfilled' ? part.value : []));
  if (lines.length === 0) return;
  byId('away-list').replaceChildren(...lines.map((line) => h('li', {}, line)));
  byId('h-away').append(h('span.muted', {}, ` since ${moment(last)}`));
  byId('away-close').addEventListener('click', () => show(byId('away'), false));
  show(byId('away'), true);
}

async function trips(calls, since) {
  const trips = await calls.get('/v1/track/trips', { since });
  if (trips.length === 0) return [];
  const points = trips.reduce((sum, trip) => sum + trip.points, 0);
  const metres = trips.reduce((sum, trip) => sum + trip.distance, 0);
  return [`${count(trips.length, 'trip')} with ${count(points, 'point')}, ${distance(metres)}`];
}

async function places(calls, since) {
  const events = await calls.get('/v1/place-events', { since, last: 1000 });
  if (events.length === 0) return [];
  const names = [...new Set(events.map((event) => event.place))];
  const more = names.length > 3 ? ` and ${names.length - 3} more` : '';
  return [`${count(events.length, 'event')} at ${names.slice(0, 3).join(', ')}${more}`];
}

async function fetches(calls, since) {
  const sources = await calls.get('/v1/fetch');
  const changed = sources.filter((source) => source.updated >= since);
  return changed.map(({ name, unseen }) => `New content of ${name}${unseen ? `, ${unseen} unseen` : ''}`);
}

/** Tasks and transfers have no time of their end, but the log has. */
async function ends(calls, since) {
  const grep = (text) => calls.get('/v1/log', { since, level: 'info', grep: text, last: 1000 });
  const [tasks, transfers] = await Promise.all([grep('Task '), grep('Transfer ')]);
  const matches = (lines, pattern) => lines.flatMap(({ message }) => pattern.exec(message)?.groups ?? []);
  return [
    ...summary('task', matches(tasks, /^Task \d+ \((?<name>[^)]*)\) (?<state>finished|failed|expired|ended|lost) after/)),
    ...summary('transfer', matches(transfers, /^Transfer \d+: (?<state>done|failed|cancelled), (?<name>[^:]*)/)),
  ];
}

/** @param {string} kind @param {any[]} matches Each with a name and a state. */
function summary(kind, matches) {
  if (matches.length === 0) return [];
  const newest = matches.slice(-3).map(({ name, state }) => `${fileName(name)} ${state}`);
  const more = matches.length > 3 ? ` and ${matches.length - 3} more` : '';
  return [`${count(matches.length, `ended ${kind}`)}: ${newest.join(', ')}${more}`];
}

async function warnings(calls, since) {
  const lines = await calls.get('/v1/log', { since, level: 'warning', last: WARNINGS });
  return lines.map(({ timestamp, level, message }) => `${moment(timestamp)} ${level}: ${message}`);
}
