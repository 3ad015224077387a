import { CallError } from './calls.js';
import { byId, setNote, setText } from './dom.js';

/** Counts the texts that were shown. */
let reading = 0;

/** Makes the buttons with `data-close` and a click beside a dialog close it. */
export function prepareDialogs() {
  for (const dialog of document.querySelectorAll('dialog')) {
    for (const button of dialog.querySelectorAll('[data-close]')) button.addEventListener('click', () => dialog.close());
    dialog.addEventListener('click', (event) => {
      if (event.target === dialog) dialog.close();
    });
  }
}

/**
 * Opens a dialog.
 * @param {string} id
 */
export function openDialog(id) {
  const dialog = byId(id);
  if (!dialog.open) dialog.showModal();
}

/**
 * Opens the dialog that shows a text. Returns a function that sets the text, and does nothing once another is shown.
 * @param {string} title
 * @returns {(text: string, note?: string) => boolean} Whether the text is shown.
 */
export function readText(title) {
  const dialog = byId('reader');
  setText(byId('h-reader'), title);
  setText(byId('reader-text'), 'Loading …');
  setNote('reader-note', undefined);
  openDialog('reader');
  const mine = (reading += 1);
  return (text, note) => {
    if (!dialog.open || reading !== mine) return false;
    setText(byId('reader-text'), text || 'Empty.');
    setNote('reader-note', note);
    return true;
  };
}

const SHOWN_FOR = 8000;
let timer = 0;

/**
 * Says why an action failed.
 * @param {unknown} error
 */
export function notify(error) {
  if (error instanceof CallError && error.status === 401) return;
  const { message, hint } = error;
  setNote('notice', hint ? `${message}; ${hint}` : message);
  clearTimeout(timer);
  timer = setTimeout(() => setNote('notice', undefined), SHOWN_FOR);
}

/**
 * Runs an action of the user, and says why it failed if it did. Returns its result, or undefined.
 * @template T
 * @param {Promise<T>} action
 * @returns {Promise<T | undefined>}
 */
export async function attempt(action) {
  try {
    return await action;
  } catch (error) {
    notify(error);
    return undefined;
  }
}
