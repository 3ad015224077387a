/** A call that the service refused, or that did not reach it. */
export class CallError extends Error {
  /**
   * @param {number} status The HTTP status; 0 if there was no answer.
   * @param {string} message
   * @param {string} [hint] The next step in one line.
   */
  constructor(status, message, hint) {
    super(message);
    this.status = status;
    this.hint = hint;
  }
}

/** Calls of the control API with the token of this tab. */
export class Calls {
  #session;

  /** @param {Session} session */
  constructor(session) {
    this.#session = session;
  }

  /** Whether this session may change things. */
  get mayControl() {
    return this.#session.scope === 'control';
  }

  /**
   * Returns the JSON of a reply.
   * @param {string} path
   * @param {Record<string, string | number>} [query]
   * @param {AbortSignal} [signal]
   * @returns {Promise<any>}
   */
  async get(path, query, signal) {
    return (await this.request('GET', path, { query, signal })).json();
  }

  /**
   * Returns the text of a reply.
   * @param {string} path
   * @returns {Promise<string>}
   */
  async text(path) {
    return (await this.request('GET', path)).text();
  }

  /**
   * Returns the image of a reply; null if there is none.
   * @param {string} path
   * @param {Record<string, string | number>} [query]
   * @param {AbortSignal} [signal]
   * @returns {Promise<Blob | null>}
   */
  async image(path, query, signal) {
    try {
      const blob = await (await this.request('GET', path, { query, signal })).blob();
      return blob.size > 0 ? blob : null;
    } catch (error) {
      if (error instanceof CallError && error.status === 404) return null;
      throw error;
    }
  }

  /** @param {string} path @param {object} [body] @returns {Promise<any>} */
  post(path, body = {}) {
    return this.#change('POST', path, body);
  }

  /** @param {string} path @param {object} body @returns {Promise<any>} */
  patch(path, body) {
    return this.#change('PATCH', path, body);
  }

  /** @param {string} path @returns {Promise<any>} */
  delete(path) {
    return this.#change('DELETE', path);
  }

  /**
   * Sends a request; throws a CallError unless the reply is a success.
   * @param {string} method
   * @param {string} path
   * @param {{query?: Record<string, string | number>, body?: object, signal?: AbortSignal}} [options]
   * @returns {Promise<Response>}
   */
  async request(method, path, { query, body, signal } = {}) {
    const token = this.#session.token;
    const headers = { Authorization: `Bearer ${token}` };
    if (body) headers['Content-Type'] = 'application/json';
    const response = await send(path + queryText(query), {
      method,
      headers,
      body: body && JSON.stringify(body),
      signal,
    });
    if (response.status === 401) this.#session.end(token);
    if (!response.ok) throw await refusal(response);
    return response;
  }

  async #change(method, path, body) {
    const response = await this.request(method, path, { body });
    return response.status === 204 ? undefined : response.json();
  }
}

/** Returns the part of an address after the path. The service reads a plus sign as one, not as a space. */
function queryText(query) {
  return query ? `?${String(new URLSearchParams(query)).replaceAll('+', '%20')}` : '';
}

/**
 * Fetches a path of this origin; throws a CallError if there is no answer.
 * @param {string} path
 * @param {RequestInit} options
 * @returns {Promise<Response>}
 */
export async function send(path, options) {
  try {
    return await fetch(path, { credentials: 'omit', cache: 'no-store', ...options });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new CallError(0, 'the service does not answer');
  }
}

/**
 * Returns the error that a reply states.
 * @param {Response} response
 * @returns {Promise<CallError>}
 */
export async function refusal(response) {
  try {
    const { message, hint } = await response.json();
    return new CallError(response.status, String(message), hint && String(hint));
  } catch {
    return new CallError(response.status, `the service answered with status ${response.status}`);
  }
}

const KEY = 'session';

/** The right of this tab to use the service: a token that only this tab has. */
export class Session {
  #token = '';
  #scope = 'read';
  /** In ms of the epoch. */
  #expires = Infinity;
  #onEnd;

  /** @param {() => void} onEnd Called once, when the service no longer accepts the token. */
  constructor(onEnd) {
    this.#onEnd = onEnd;
  }

  get token() {
    return this.#token;
  }

  get scope() {
    return this.#scope === 'control' ? 'control' : 'read';
  }

  /**
   * Exchanges the code of the link, or continues the session of this tab. Returns whether there is one.
   * @returns {Promise<boolean>}
   */
  async begin() {
    const code = location.hash.slice(1);
    if (code) {
      // The code must not stay in the address bar, the history or a bookmark.
      history.replaceState(null, '', location.pathname);
      const response = await send('/v1/web/session', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ code }),
      });
      if (response.ok) sessionStorage.setItem(KEY, JSON.stringify(await response.json()));
      else if (response.status !== 401) throw await refusal(response);
    }
    const { token = '', scope = 'read', expires } = JSON.parse(sessionStorage.getItem(KEY) ?? '{}');
    this.#token = token;
    this.#scope = scope;
    this.#expires = Date.parse(expires) || Infinity;
    return token !== '';
  }

  /** Ends the session if its time is over. The service may not be there any more to say so. */
  endIfExpired() {
    if (Date.now() > this.#expires) this.end(this.#token);
  }

  /**
   * Ends the session, because the service did not accept its token.
   * @param {string} token The refused token; a late answer to an older one changes nothing.
   */
  end(token) {
    if (!token || token !== this.#token) return;
    this.#token = '';
    sessionStorage.removeItem(KEY);
    this.#onEnd();
  }
}

/**
 * What every panel gets.
 * @typedef {object} Context
 * @property {import('./model.js').Model} model
 * @property {import('./calls.js').Calls} calls
 */
