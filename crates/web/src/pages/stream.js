// Events of the server, its state, and connecting again for as long as the page is open.
// @ts-check

/** After this long without a connection the server counts as gone. */
const GONE_MS = 10_000;
/** The server tells every 15 seconds that it is there, if it has nothing else to tell. */
const SILENT_MS = 40_000;
/** A browser gives up where the answer is an error, or no stream of events; this goes on. */
const AGAIN_MS = 3_000;

/** The page to sign in is what the server sends for any page while the browser's cookie is worth nothing. */
export function signInAgain() {
  location.reload();
}

/** An event source does not tell why it was refused. */
async function signInAgainIfRefused() {
  const answer = await fetch("/api/v1/machine", { cache: "no-store" }).catch(() => null);
  if (answer?.status === 401) signInAgain();
}

/**
 * connecting: not yet connected; gone: not connected for some time; ended: closed, and nothing is to come.
 * @typedef {"connecting" | "connected" | "reconnecting" | "gone" | "ended"} State
 */

/** Events of one address. */
export class Stream {
  /**
   * @param {string} url
   * @param {Record<string, (data: any, id: string) => void>} handlers by the name of the event; data that are no JSON
   *   are told as a gap
   * @param {(state: State, since: number) => void} onState the time is when something was last heard, in milliseconds
   */
  constructor(url, handlers, onState) {
    this.url = url;
    this.handlers = handlers;
    this.onState = onState;
    this.heard = Date.now();
    /** @type {State} */
    this.state = "connecting";
    /** @type {number | undefined} */
    this.patience = undefined;
    /** @type {number | undefined} */
    this.again = undefined;
    this.watch = setInterval(() => {
      // A connection may be dead without anybody knowing: this machine slept, or a tunnel is gone.
      if (this.state === "connected" && Date.now() - this.heard > SILENT_MS) this.reopen();
    }, SILENT_MS / 4);
    this.#open();
  }

  #open() {
    const source = new EventSource(this.url);
    this.source = source;
    source.onopen = () => this.#turn("connected");
    source.onerror = () => this.#failed();
    source.addEventListener("alive", () => (this.heard = Date.now()));
    for (const [name, handle] of Object.entries(this.handlers)) {
      source.addEventListener(name, (event) => this.#received(/** @type {MessageEvent} */ (event), handle));
    }
  }

  /**
   * @param {MessageEvent} event
   * @param {(data: any, id: string) => void} handle
   */
  #received(event, handle) {
    this.heard = Date.now();
    let data;
    try {
      data = JSON.parse(event.data);
    } catch {
      this.handlers.gap?.({ missed: 1 }, "");
      return;
    }
    handle(data, event.lastEventId);
  }

  #failed() {
    if (this.state === "connected" || this.state === "connecting") this.#turn("reconnecting");
    if (this.source?.readyState !== EventSource.CLOSED) return;
    this.reopen(AGAIN_MS);
    signInAgainIfRefused();
  }

  /**
   * Begins anew, without a memory of what was heard: what comes twice is the reader's to know.
   * @param {number} [wait_ms]
   */
  reopen(wait_ms = 0) {
    this.source?.close();
    if (this.state === "connected") this.#turn("reconnecting");
    clearTimeout(this.again);
    this.again = setTimeout(() => this.#open(), wait_ms);
  }

  /** @param {State} state */
  #turn(state) {
    this.state = state;
    clearTimeout(this.patience);
    if (state === "reconnecting") this.patience = setTimeout(() => this.#turn("gone"), GONE_MS);
    if (state === "connected") this.heard = Date.now();
    this.onState(state, this.heard);
  }

  /** Nothing more is to come. */
  close() {
    this.source?.close();
    clearTimeout(this.again);
    clearInterval(this.watch);
    this.#turn("ended");
  }
}
