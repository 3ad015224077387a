import { openDialog } from './dialogs.js';
import { byId } from './dom.js';

const SEEK = 10;
const VOLUME = 5;

/**
 * The keys of the page. They do nothing while something has the focus that uses keys itself.
 * @param {import('./audio.js').Player} player
 * @param {boolean} mayControl
 */
export function keys(player, mayControl) {
  const actions = {
    '/': () => byId('log-search').focus(),
    '?': () => openDialog('help'),
  };
  if (mayControl) {
    Object.assign(actions, {
      ' ': () => player.toggle(),
      n: () => player.next(),
      p: () => player.previous(),
      ArrowLeft: () => player.skip(-SEEK),
      ArrowRight: () => player.skip(SEEK),
      '+': () => player.turn(VOLUME),
      '-': () => player.turn(-VOLUME),
    });
  }
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const action = actions[event.key];
    if (!action || uses(event.target, event.key)) return;
    event.preventDefault();
    action();
  });
}

/** Returns whether an element acts on a key itself. */
function uses(element, key) {
  if (element.closest('input, select, textarea, dialog[open]')) return true;
  if (key === ' ') return element.closest('button, a, [tabindex]') !== null && element !== document.body;
  return element.closest('#map') !== null && /^(Arrow|[+-])/.test(key);
}
