import { attempt } from './dialogs.js';
import { byId, h, Rows, setBadge, setNote, setText, show } from './dom.js';
import { clock, count, course, distance, speed, words } from './format.js';

/** @typedef {import('./calls.js').Context} Context */

/**
 * The receiver, its settings and the counts of fixes.
 * @param {Context} context
 * @param {import('./map.js').TrackMap} map
 */
export function location({ model, calls }, map) {
  const tracking = byId('tracking');
  const accuracy = byId('accuracy');
  const filter = byId('distance-filter');
  const fixes = new Rows('fixes', createCount, ([name]) => name);
  accuracy.disabled = filter.disabled = !calls.mayControl;

  const change = (body) => attempt(calls.patch('/v1/location', body));
  tracking.addEventListener('click', () => change({ updating: !model.status?.location?.updating }));
  accuracy.addEventListener('change', () => change({ desiredAccuracy: accuracy.value }));
  filter.addEventListener('change', () => {
    if (filter.value !== '' && filter.validity.valid) change({ distanceFilter: Number(filter.value) });
  });

  function draw() {
    const status = model.status?.location;
    if (!status) return;
    show(tracking, calls.mayControl);
    setText(tracking, status.updating ? 'Stop tracking' : 'Start tracking');
    if (document.activeElement !== accuracy) accuracy.value = status.desiredAccuracy;
    if (document.activeElement !== filter) filter.value = status.distanceFilter;
    drawReceiver(status);
    const { received, accepted, waiting, dropped, rejected } = status;
    const reasons = Object.entries(rejected).filter(([, number]) => number > 0);
    const counts = [['received', received], ['accepted', accepted], ['waiting', waiting], ['lost', dropped], ...reasons];
    fixes.set(counts.filter(([name, number]) => number > 0 || name === 'received' || name === 'accepted'));
    drawFix(status.lastFix);
  }

  function drawFix(fix) {
    if (!fix) return;
    map.setFix(fix);
    setText(byId('position-text'), `${fix.latitude.toFixed(5)}, ${fix.longitude.toFixed(5)}`);
    const parts = [
      fix.horizontalAccuracy !== undefined && `± ${fix.horizontalAccuracy.toFixed(fix.horizontalAccuracy < 10 ? 1 : 0)} m`,
      fix.speed !== undefined && speed(fix.speed),
      fix.course !== undefined && course(fix.course),
      fix.altitude !== undefined && `${fix.altitude.toFixed(0)} m high`,
      clock(fix.timestamp),
    ];
    setText(byId('position-detail'), parts.filter(Boolean).join(' · '));
  }

  model.on(['location'], draw);
}

function drawReceiver(status) {
  const quality = byId('location-quality');
  const word = status.updating ? (status.quality ?? status.connection) : 'stopped';
  const bad = ['starved', 'silent', 'noDevice', 'disconnected'].includes(word);
  setBadge(quality, words(word), word === 'ok' ? 'good' : bad ? 'bad' : '');
  setText(byId('location-source'), `${words(status.connection)}, ${status.source}`);
  const { lastRejection: rejection } = status;
  const reason = status.offReason ?? (word === 'ok' ? undefined : status.qualityDetail);
  const last = rejection?.timestamp && `last rejected at ${clock(rejection.timestamp)}: ${rejectionText(rejection)}`;
  setNote('location-reason', reason ?? last);
  byId('location-reason').classList.toggle('warn', Boolean(reason));
  const { trip } = status;
  setText(
    byId('trip-progress'),
    trip && `Trip in progress: ${distance(trip.distance)}, ${count(trip.points, 'point')} since ${clock(trip.start)}`,
  );
}

function rejectionText({ reason, value, limit }) {
  if (value === undefined) return words(reason);
  return `${words(reason)} ${value.toFixed(0)}${limit === undefined ? '' : `, limit ${limit.toFixed(0)}`}`;
}

function createCount([name]) {
  const number = h('dd');
  return {
    element: h('div', {}, h('dt', {}, words(name)), number),
    update: ([, value]) => setText(number, value.toLocaleString()),
  };
}
