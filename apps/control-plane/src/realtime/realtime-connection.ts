import { tenantKey, type Tenant } from '@countersign/keys';
import type { RawData, WebSocket } from 'ws';
import type { BufferedOctets } from './buffered-octets.js';
import { BINARY_FRAME, parseClientFrame, type BadFrame, type ClientFrame, type FrameId } from './client-frame.js';
import { CLOSE, CLOSE_REASONS, type CloseCode } from './close-codes.js';
import { judgeFrame, newPace, nextPace, type Listener, type Pace, type Verdict } from './connection-rules.js';
import type { SubscriptionPlaces } from './account-connection-quota.js';
import { closingFrame, errorFrame, unsubscribedFrame, type FrameError } from './server-frame.js';

/** How far a reader may be behind (contract, Realtime). */
const MAX_BEHIND_OCTETS = 1024 * 1024;
/** Fewer buffered octets are not counted: every frame is buffered for a moment, and a change of a session has fewer. */
const MIN_COUNTED_OCTETS = 4 * 1024;
/** Messages that wait while one is handled: five seconds of them at 20 a second, more than any handling takes. */
const MAX_WAITING = 100;
/** What may still come from one that was told that it ends, and may not have heard it; after that it is cut off. */
const MAX_AFTER_END = 1_000;
/** From connecting to being authenticated (contract, Realtime). */
const AUTH_WITHIN_MS = 5_000;
/** Time for a peer that has not authenticated to answer the close frame. */
const UNAUTHENTICATED_CLOSE_MS = 1_000;
/** A ticket that came in time and is being looked up when the time is over gets so much more, and again. */
const AUTH_AGAIN_MS = 500;

/** What is done with a message of one type. Must not reject. */
export type FrameHandler = (frame: ClientFrame) => Promise<void>;

export interface ConnectionOptions {
  readonly listener: Listener;
  readonly clientAddress: string;
  /** A monotonic clock. */
  readonly nowMs: () => number;
  /** Where nobody was known: told once, when somebody is, or when it has ended without. */
  readonly onProven: () => void;
  /** Whether the tenant of a ticket may have one more connection; where it may, this one is counted. */
  readonly hasPlaceFor: (tenant: Tenant) => boolean;
  /** Counts the channels of connections with a key. */
  readonly subscriptions: SubscriptionPlaces;
  /** Counts what the clients of this process have not read. */
  readonly buffered: BufferedOctets;
}

/**
 * One WebSocket. Its messages are handled one after the other, in the order they came, so that answers come in that order
 * too. All that it keeps is bounded: what waits to be handled, and what waits to be read by the other side.
 */
export class RealtimeConnection {
  /** How each channel that it listens to is left, by the channel's name. */
  readonly #leave = new Map<string, () => void>();
  readonly clientAddress: string;
  /** When it was heard of last, and when it was asked for a sign of life that has not come. */
  heardMs: number;
  askedMs: number | null = null;
  nextPingMs = 0;
  #listener: Listener;
  #handlers: ReadonlyMap<string, FrameHandler> = new Map();
  readonly #waiting: (ClientFrame | BadFrame)[] = [];
  #handling = false;
  #bad = 0;
  #pace: Pace;
  /** Pings and pongs cost as much as messages, and have a pace of their own: they are no messages. */
  #controlPace: Pace;
  #afterEnd = 0;
  /** Whether it has left its channels, because the socket has closed. */
  #hasLeft = false;
  #closeCode: number | null = null;
  readonly #nowMs: () => number;
  #patience: NodeJS.Timeout | undefined;
  #onProven: (() => void) | null = null;
  readonly #hasPlaceFor: ConnectionOptions['hasPlaceFor'];
  readonly #subscriptions: SubscriptionPlaces;
  readonly #buffered: BufferedOctets;
  #countedOctets = 0;
  #isDropped = false;

  constructor(
    private readonly socket: WebSocket,
    { listener, clientAddress, nowMs, onProven, hasPlaceFor, subscriptions, buffered }: ConnectionOptions,
  ) {
    this.#listener = listener;
    this.#hasPlaceFor = hasPlaceFor;
    this.#subscriptions = subscriptions;
    this.#buffered = buffered;
    this.clientAddress = clientAddress;
    this.#nowMs = nowMs;
    this.heardMs = nowMs();
    this.#pace = newPace(this.heardMs);
    this.#controlPace = newPace(this.heardMs);
    socket.on('message', (data, isBinary) => this.hear(data, isBinary));
    socket.on('ping', () => this.hearControl());
    socket.on('pong', () => this.hearControl());
    // What is wrong with the line, or with a frame, closes it; there is nobody to tell.
    socket.on('error', () => undefined);
    socket.once('close', () => this.count(0));
    if (listener.kind === 'nobody') {
      this.#onProven = onProven;
      this.#patience = setTimeout(() => this.losePatience(), AUTH_WITHIN_MS);
    }
  }

  get listener(): Listener {
    return this.#listener;
  }

  /** Whether something can still be said. */
  get open(): boolean {
    return this.#closeCode === null && this.socket.readyState === this.socket.OPEN;
  }

  /** What is done with its messages, by their type; until this is called they wait. */
  handleWith(handlers: ReadonlyMap<string, FrameHandler>): void {
    this.#handlers = handlers;
    this.handleNext();
  }

  /** Hears the code that it ended with. */
  onClose(hear: (code: number) => void): void {
    this.socket.once('close', (code) => {
      clearTimeout(this.#patience);
      this.settle();
      this.#waiting.length = 0;
      this.#hasLeft = true;
      for (const channel of [...this.#leave.keys()]) this.unwatch(channel);
      hear(this.#closeCode ?? code);
    });
  }

  /** Channels that it listens to besides this one. */
  channelsBut(channel: string): number {
    return this.#leave.size - Number(this.#leave.has(channel));
  }

  /** Whether the account of its key may have one more subscription; one that is replaced takes no new place. */
  accountHasRoomFor(channel: string): boolean {
    const { counted } = this;
    return counted === null || this.#leave.has(channel) || this.#subscriptions.roomFor(counted);
  }

  /** It listens to the channel now; what it was before on the same is over. False where it was nothing before. */
  watch(channel: string, leave: () => void): boolean {
    if (this.#hasLeft) {
      // A subscribe that waited for something while the connection ended: nobody would leave the channel later.
      leave();
      return false;
    }
    const again = this.unwatch(channel);
    this.#leave.set(channel, leave);
    if (this.counted !== null) this.#subscriptions.enter(this.counted);
    return again;
  }

  unwatch(channel: string): boolean {
    const leave = this.#leave.get(channel);
    if (leave === undefined) return false;
    this.#leave.delete(channel);
    leave();
    if (this.counted !== null) this.#subscriptions.leave(this.counted);
    return true;
  }

  /** After a subscribe that came to nothing; who listened before is told that this is over. */
  abandon(channel: string, didBefore: boolean): void {
    this.unwatch(channel);
    if (didBefore) this.send(unsubscribedFrame(null, channel));
  }

  /** From now on it speaks for who has this ticket; false where its account has too many connections already. */
  admit(ticket: Extract<Listener, { kind: 'ticket' }>): boolean {
    // One that has ended while the ticket was looked up is not counted: nobody would count it out again.
    if (!this.open || !this.#hasPlaceFor(ticket.tenant)) return false;
    clearTimeout(this.#patience);
    this.settle();
    this.count(0);
    this.#listener = ticket;
    this.#recount();
    return true;
  }

  /** Who is too far behind to be told more is told nothing more. */
  send(frame: string | Buffer): void {
    if (!this.open) return;
    if (this.socket.bufferedAmount > MAX_BEHIND_OCTETS) this.close(CLOSE.tooSlow);
    else {
      this.socket.send(frame, AS_TEXT, this.#recount);
      this.#recount();
    }
  }

  refuse(id: FrameId | null, { error, close }: { readonly error: FrameError; readonly close: CloseCode | null }): void {
    this.send(errorFrame(id, error));
    if (close !== null) this.close(close);
  }

  close(code: CloseCode): void {
    if (this.#closeCode !== null) return;
    this.#closeCode = code;
    clearTimeout(this.#patience);
    this.#waiting.length = 0;
    this.socket.close(code, CLOSE_REASONS[code]);
    if (this.#listener.kind === 'nobody') this.#patience = setTimeout(() => this.drop(), UNAUTHENTICATED_CLOSE_MS);
  }

  /** Closes it at once because of a connection limit: sends the close frame and does not wait for the answer. */
  evict(): void {
    this.close(CLOSE.tooMany);
    this.drop();
  }

  /** Closes it at once because too much is buffered for clients that do not read: the close frame is behind all of it. */
  closeSlow(): void {
    this.close(CLOSE.tooSlow);
    this.drop();
  }

  /** Says goodbye, and when to come back. */
  dismiss(reconnectAfterMs: number): void {
    this.send(closingFrame(reconnectAfterMs));
    this.close(CLOSE.goingAway);
  }

  ping(): void {
    if (this.open) this.socket.ping(undefined, undefined, ignore);
  }

  /** Ends it without a word: the other side is not there to hear one. */
  drop(): void {
    this.#isDropped = true;
    this.count(0);
    this.socket.terminate();
  }

  /** Whose subscriptions its channels count to. The listener of a connection with a key never changes. */
  private get counted(): Tenant | null {
    return this.#listener.kind === 'key' ? this.#listener.tenant : null;
  }

  /** After a frame was given to the socket, and after the system has taken one. */
  readonly #recount = (): void => {
    const octets = this.socket.bufferedAmount;
    this.count(octets < MIN_COUNTED_OCTETS || this.#isDropped ? 0 : octets);
  };

  private count(octets: number): void {
    if (octets === this.#countedOctets) return;
    this.#countedOctets = octets;
    this.#buffered.set(this, tenantOf(this.#listener), octets);
  }

  private settle(): void {
    this.#onProven?.();
    this.#onProven = null;
  }

  private noteLife(): void {
    this.heardMs = this.#nowMs();
    this.askedMs = null;
  }

  private losePatience(): void {
    if (this.#handling) this.#patience = setTimeout(() => this.losePatience(), AUTH_AGAIN_MS);
    else this.close(CLOSE.noAuthInTime);
  }

  private hearControl(): void {
    this.noteLife();
    if (this.isOver()) return;
    const pace = nextPace(this.#controlPace, this.heardMs);
    if (pace === null) this.close(CLOSE.tooMany);
    else this.#controlPace = pace;
  }

  /** Whether what came does not count any more. Until the other side answers the close, what it sends is still read. */
  private isOver(): boolean {
    if (this.open) return false;
    this.#afterEnd += 1;
    if (this.#afterEnd > MAX_AFTER_END) this.drop();
    return true;
  }

  private hear(data: RawData, isBinary: boolean): void {
    this.noteLife();
    if (this.isOver()) return;
    const pace = nextPace(this.#pace, this.heardMs);
    if (pace === null || this.#waiting.length >= MAX_WAITING) {
      this.close(CLOSE.tooMany);
      return;
    }
    this.#pace = pace;
    this.#waiting.push(isBinary || !Buffer.isBuffer(data) ? BINARY_FRAME : parseClientFrame(data.toString('utf8')));
    this.handleNext();
  }

  private handleNext(): void {
    if (this.#handling || this.#handlers.size === 0) return;
    const frame = this.#waiting.shift();
    if (frame === undefined) return;
    this.#handling = true;
    void this.handle(frame).finally(() => {
      this.#handling = false;
      this.handleNext();
    });
  }

  private async handle(frame: ClientFrame | BadFrame): Promise<void> {
    const verdict: Verdict = judgeFrame(this.#listener.kind, frame, this.#bad);
    if (verdict.kind === 'handle') {
      await this.#handlers.get(verdict.frame.type)?.(verdict.frame);
      return;
    }
    this.#bad += Number(verdict.counts);
    this.refuse(frame.id, verdict);
  }
}

/** Whose share of the buffered octets a connection uses. */
const tenantOf = (listener: Listener): string =>
  listener.kind === 'key' || listener.kind === 'ticket' ? tenantKey(listener.tenant) : listener.kind;

/** Octets go out as the text that they are. */
const AS_TEXT = { binary: false };
/** What cannot be written any more closes the connection, which is heard of. */
const ignore = (): void => undefined;
