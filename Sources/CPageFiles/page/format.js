/** Text for people: local times, metric units. */

const DAY = 86_400;
const time = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hour12: false });
const seconds = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hour12: false,
});
const date = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' });

/** @param {string | number} at @returns {string} `14:03:05` */
export function clock(at) {
  return seconds.format(new Date(at));
}

/** @param {string | number} at @returns {string} `14:03` today, otherwise with the date. */
export function moment(at) {
  const day = new Date(at);
  const text = time.format(day);
  return day.toDateString() === new Date().toDateString() ? text : `${date.format(day)}, ${text}`;
}

/** @param {number | undefined} value Seconds. @returns {string} `3:05`, or `1:03:05`. */
export function length(value) {
  if (value === undefined) return '–:––';
  const whole = Math.max(0, Math.floor(value));
  const pad = (part) => String(part).padStart(2, '0');
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  return hours > 0 ? `${hours}:${pad(minutes)}:${pad(whole % 60)}` : `${minutes}:${pad(whole % 60)}`;
}

/** @param {number} value Seconds. @returns {string} `45 s`, `12 min`, `3 h 5 min`, `2 d 4 h` */
export function span(value) {
  const whole = Math.max(0, Math.round(value));
  if (whole < 90) return `${whole} s`;
  const minutes = Math.round(whole / 60);
  if (minutes < 90) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (whole < 2 * DAY) return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
  return `${Math.floor(whole / DAY)} d ${Math.floor((whole % DAY) / 3600)} h`;
}

/** @param {string | number} at @returns {string} `12 min ago`, or `in 3 min` */
export function relative(at) {
  const left = (new Date(at).getTime() - Date.now()) / 1000;
  return left < 0 ? `${span(-left)} ago` : `in ${span(left)}`;
}

/** @param {number} metres @returns {string} */
export function distance(metres) {
  if (Math.abs(metres) < 1000) return `${Math.round(metres)} m`;
  return `${(metres / 1000).toFixed(Math.abs(metres) < 100_000 ? 1 : 0)} km`;
}

/** @param {number} metresPerSecond @returns {string} */
export function speed(metresPerSecond) {
  return `${(metresPerSecond * 3.6).toFixed(metresPerSecond < 5 ? 1 : 0)} km/h`;
}

/** @param {number} bytes @returns {string} */
export function size(bytes) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
  return `${(bytes / 1000 ** power).toFixed(power > 1 ? 1 : 0)} ${units[power]}`;
}

/** @param {number} course Degrees clockwise from true north. @returns {string} `286° W` */
export function course(course) {
  const names = ['N', 'NE', 'E', 'SE', 'S', 'SW', 'W', 'NW'];
  return `${Math.round(course) % 360}° ${names[Math.round(course / 45) % 8]}`;
}

/** @param {number} count @param {string} one @param {string} [many] @returns {string} `1 point`, `2,000 points` */
export function count(count, one, many = `${one}s`) {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`;
}

/** @param {string} path @returns {string} The last component. */
export function fileName(path) {
  return path.split('/').filter(Boolean).pop() ?? path;
}

/** @param {any} item A PlayerItem. @returns {string} */
export function itemTitle(item) {
  return item.title || item.station || fileName(item.path);
}

/** @param {string} word A value of the API, such as `outOfOrder`. @returns {string} `out of order` */
export function words(word) {
  return word.replace(/([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`);
}
