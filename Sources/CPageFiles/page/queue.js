import { attempt, openDialog } from './dialogs.js';
import { byId, h, icon, iconButton, Rows, setText, show, textButton } from './dom.js';
import { count, fileName, itemTitle, length } from './format.js';

/** Tuned: enough to scroll in, and few enough elements for a phone. */
const WINDOW = 60;

/** A part of the queue: around the current item, or where the user looks. */
export class QueueList {
  #model;
  #calls;
  #player;
  #rows = new Rows('queue', (item) => this.#createRow(item), (item) => `${item.id} ${itemTitle(item)}`);
  /** @type {any[] | null} Items that the user looks at; null follows the current item. */
  #elsewhere = null;
  #first = 0;
  /** @type {number | null} The item that is dragged. */
  #dragged = null;

  /**
   * @param {import('./calls.js').Context} context
   * @param {import('./audio.js').Player} player
   */
  constructor({ model, calls }, player) {
    this.#model = model;
    this.#calls = calls;
    this.#player = player;
    byId('earlier').addEventListener('click', () => this.#look(this.#first - WINDOW));
    byId('later').addEventListener('click', () => this.#look(this.#first + WINDOW));
    byId('current').addEventListener('click', () => {
      this.#elsewhere = null;
      this.#draw();
    });
    model.on(['queue'], () => this.#changed());
    model.on(['audio'], () => this.#draw());
  }

  /** After a change of the queue, the items elsewhere are out of date. */
  async #changed() {
    const item = this.#elsewhere?.find(({ position }) => position === this.#first);
    // The item may have been removed: then the list follows the current item again.
    if (item) this.#elsewhere = await this.#calls.get('/v1/queue', { around: item.id }).catch(() => null);
    this.#draw();
  }

  get #items() {
    return this.#elsewhere ?? this.#model.queue;
  }

  /** Shows the items from a position on; gets those that the model does not have. */
  async #look(position) {
    const last = Math.max(0, this.#model.queueLength - WINDOW);
    const first = Math.max(0, Math.min(position, last));
    let items = this.#items;
    if (items.length === 0) return;
    const [top, bottom] = [items[0], items[items.length - 1]];
    const wanted = Math.min(first + WINDOW, this.#model.queueLength) - 1;
    if (first < top.position || wanted > bottom.position) {
      const around = (first < top.position ? top : bottom).id;
      items = (await attempt(this.#calls.get('/v1/queue', { around }))) ?? items;
    }
    this.#elsewhere = items;
    this.#first = first;
    this.#draw();
  }

  #draw() {
    const { queueLength, status } = this.#model;
    const current = status?.audio?.currentItem;
    if (!this.#elsewhere) this.#first = firstAround(this.#items, current?.position ?? 0);
    const items = this.#items.filter(({ position }) => position >= this.#first).slice(0, WINDOW);
    this.#rows.set(items);
    const end = (items[items.length - 1]?.position ?? -1) + 1;
    const whole = items.length === queueLength;
    const part = `${(this.#first + 1).toLocaleString()}–${end.toLocaleString()} of ${queueLength.toLocaleString()}`;
    setText(byId('queue-count'), whole ? count(queueLength, 'item') : part);
    show(byId('earlier'), this.#first > 0);
    show(byId('later'), end < queueLength);
    show(byId('current'), this.#elsewhere !== null);
  }

  #createRow(item) {
    const title = h('span');
    const detail = h('span.muted');
    const jump = h('button.row-button', { type: 'button', click: () => this.#player.play(item.id) }, title, detail);
    jump.disabled = !this.#calls.mayControl;
    const name = itemTitle(item);
    let { position } = item;
    const actions = h(
      'span.actions',
      {},
      iconButton('up', `Move ${name} up`, () => this.#move(item.id, position - 1)),
      iconButton('down', `Move ${name} down`, () => this.#move(item.id, position + 1)),
      iconButton('close', `Remove ${name}`, () => attempt(this.#calls.delete(`/v1/queue/${Number(item.id)}`))),
    );
    const element = h('li', { draggable: this.#calls.mayControl ? 'true' : 'false' }, jump, actions);
    this.#dragging(element, item.id, () => position);
    return {
      element,
      update: (item) => {
        ({ position } = item);
        setText(title, itemTitle(item));
        setText(detail, [item.error, item.artist, length(item.duration)].filter(Boolean).join(' · '));
        const isCurrent = this.#model.status?.audio?.currentItem?.id === item.id;
        element.classList.toggle('current', isCurrent);
        element.classList.toggle('faulty', Boolean(item.error));
        if (isCurrent) element.setAttribute('aria-current', 'true');
        else element.removeAttribute('aria-current');
      },
    };
  }

  #move(id, position) {
    if (position < 0 || position >= this.#model.queueLength) return;
    attempt(this.#calls.patch(`/v1/queue/${Number(id)}`, { position }));
  }

  #dragging(element, id, position) {
    element.addEventListener('dragstart', (event) => {
      this.#dragged = id;
      event.dataTransfer?.setData('text/plain', '');
    });
    element.addEventListener('dragend', () => (this.#dragged = null));
    element.addEventListener('dragover', (event) => {
      if (this.#dragged === null || this.#dragged === id) return;
      event.preventDefault();
      element.classList.add('target');
    });
    element.addEventListener('dragleave', () => element.classList.remove('target'));
    element.addEventListener('drop', (event) => {
      event.preventDefault();
      element.classList.remove('target');
      if (this.#dragged !== null) this.#move(this.#dragged, position());
    });
  }
}

/** Returns the first position of a window with the current item, of those that are known. */
function firstAround(items, current) {
  const least = items[0]?.position ?? 0;
  const most = Math.max(least, (items[items.length - 1]?.position ?? 0) - WINDOW + 1);
  return Math.max(least, Math.min(current - 5, most));
}

/** Entries of a folder that are shown. */
const MOST = 500;

/**
 * The dialog that adds files and folders of the music directory to the queue.
 * @param {import('./calls.js').Context} context
 */
export function library({ calls }) {
  byId('add').addEventListener('click', () => {
    setText(byId('library-result'), '');
    openDialog('library');
    browse('');
  });

  async function browse(path) {
    const folder = await attempt(calls.get('/v1/library', { path }));
    if (!folder) return;
    drawCrumbs(path);
    const folders = folder.folders.map((name) => folderRow(path ? `${path}/${name}` : name, name));
    const songs = folder.songs.map(songRow);
    byId('library-rows').replaceChildren(...[...folders, ...songs].slice(0, MOST));
    show(byId('library-none'), folders.length + songs.length === 0);
    if (folders.length + songs.length > MOST) setText(byId('library-result'), `Only the first ${MOST} entries are shown.`);
  }

  function drawCrumbs(path) {
    const parts = path.split('/').filter(Boolean);
    const crumbs = ['Music', ...parts].map((name, depth) => {
      const button = h('button.link', { type: 'button', click: () => browse(parts.slice(0, depth).join('/')) }, name);
      if (depth === parts.length) button.setAttribute('aria-current', 'location');
      return button;
    });
    byId('crumbs').replaceChildren(...crumbs);
  }

  function folderRow(path, name) {
    const open = h('button.row-button', { type: 'button', click: () => browse(path) }, icon('folder'), h('span', {}, name));
    return h('li', {}, open, h('span.actions', {}, textButton('Add', name, () => add(path, name))));
  }

  function songRow(song) {
    const tag = (name) => song.tags.find((each) => each.name === name)?.value;
    const title = tag('Title') ?? fileName(song.path);
    const detail = [tag('Artist'), song.duration !== undefined && length(song.duration)].filter(Boolean).join(' · ');
    return h(
      'li',
      {},
      h('span.row-text', {}, h('span', {}, title), h('span.muted', {}, detail)),
      h(
        'span.actions',
        {},
        textButton('Announce', title, () => announce(song.path, title)),
        textButton('Add', title, () => add(song.path, title)),
      ),
    );
  }

  async function add(path, name) {
    const added = await attempt(calls.post('/v1/queue', { items: [path] }));
    if (added) setText(byId('library-result'), `Added ${name}.`);
  }

  async function announce(path, name) {
    const begun = await attempt(calls.post('/v1/audio/interrupt', { item: path, duck: 0.2 }));
    if (begun) setText(byId('library-result'), `Announcing ${name}.`);
  }
}
