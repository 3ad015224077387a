/**
 * Helpers for elements. Text from outside becomes a text node; tags, classes and attribute names are always literals of
 * this page.
 */

const SVG = 'http://www.w3.org/2000/svg';

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * Returns the element with an id of index.html.
 * @param {string} id
 * @returns {any}
 */
export function byId(id) {
  return document.getElementById(id);
}

/**
 * Creates an element.
 * @param {string} selector A tag and its classes, such as `button.quiet`.
 * @param {Record<string, string | number | boolean | ((event: any) => void)>} [properties] Attributes, and listeners by
 * the name of their event.
 * @param {...Child} children Text is shown as it is; undefined and false are skipped.
 * @returns {any}
 */
export function h(selector, properties = {}, ...children) {
  const [tag, ...classes] = selector.split('.');
  const element = document.createElement(tag);
  if (classes.length > 0) element.className = classes.join(' ');
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === 'function') element.addEventListener(name, value);
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== undefined && child !== false));
  return element;
}

/**
 * Creates an SVG element.
 * @param {string} tag
 * @param {Record<string, string | number>} attributes
 * @param {...Node} children
 * @returns {SVGElement}
 */
export function svg(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/**
 * Returns an icon of the sprite in index.html.
 * @param {string} name
 */
export function icon(name) {
  return svg('svg', { class: 'icon', 'aria-hidden': 'true' }, svg('use', { href: `#i-${name}` }));
}

/**
 * Creates a button with an icon, and with a name that only screen readers get.
 * @param {string} name The icon.
 * @param {string} label May contain text from outside.
 * @param {() => void} action
 * @returns {HTMLButtonElement}
 */
export function iconButton(name, label, action) {
  return h('button.icon-button.control', { type: 'button', click: action }, icon(name), h('span.sr', {}, label));
}

/**
 * Creates a button with text; `more` is read after it, but not shown.
 * @param {string} text
 * @param {string} more
 * @param {() => void} action
 * @returns {HTMLButtonElement}
 */
export function textButton(text, more, action) {
  return h('button.small', { type: 'button', click: action }, text, more && h('span.sr', {}, ` ${more}`));
}

/**
 * Sets a text, and touches the document only if it is another one.
 * @param {Element} element
 * @param {string | number | undefined} text
 */
export function setText(element, text) {
  const value = text === undefined ? '' : String(text);
  if (element.textContent !== value) element.textContent = value;
}

/**
 * @param {Element} element
 * @param {boolean} shown
 */
export function show(element, shown) {
  element.toggleAttribute('hidden', !shown);
}

/**
 * Sets the text of an element of index.html, and hides the element while there is none.
 * @param {string} id
 * @param {string | undefined} text
 */
export function setNote(id, text) {
  setText(byId(id), text);
  show(byId(id), Boolean(text));
}

/**
 * Sets the text and the colour of a badge.
 * @param {Element} element
 * @param {string} text
 * @param {'' | 'good' | 'bad'} tone
 */
export function setBadge(element, text, tone) {
  setText(element, text);
  element.className = `badge ${tone}`;
}

/**
 * The rows of a list, which are reused as long as their key stays. Without rows, the element with the id and `-none` is shown.
 * @template T
 */
export class Rows {
  #id;
  #create;
  #key;
  #rows = new Map();

  /**
   * @param {string} id Of a list in index.html.
   * @param {(item: T) => {element: HTMLElement, update: (item: T) => void}} create
   * @param {(item: any) => any} [key]
   */
  constructor(id, create, key = (item) => item.id) {
    this.#id = id;
    this.#create = create;
    this.#key = key;
  }

  /** @param {T[]} items */
  set(items) {
    const parent = byId(this.#id);
    const keys = new Set(items.map(this.#key));
    const none = byId(`${this.#id}-none`);
    if (none) show(none, items.length === 0);
    for (const [old, row] of this.#rows) {
      if (keys.has(old)) continue;
      row.element.remove();
      this.#rows.delete(old);
    }
    // A row that moves loses the focus; the button in it must keep it.
    const focused = document.activeElement;
    let place = parent.firstElementChild;
    for (const item of items) {
      const key = this.#key(item);
      let row = this.#rows.get(key);
      if (!row) this.#rows.set(key, (row = this.#create(item)));
      row.update(item);
      if (row.element === place) place = place.nextElementSibling;
      else parent.insertBefore(row.element, place);
    }
    if (focused !== document.activeElement && parent.contains(focused)) focused.focus();
  }
}
