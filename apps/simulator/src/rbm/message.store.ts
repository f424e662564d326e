import type { RcsItem, RcsState } from '../phone/phone-item.js';
import type { AgentMessage, Fields } from './agent-message.js';
import { agentBrand, pictureOf } from './agents.js';

/** A message that the platform has accepted. */
export interface StoredMessage {
  /** Chosen by the sender, unique within its agent. */
  readonly messageId: string;
  readonly agentId: string;
  readonly phone: string;
  readonly message: AgentMessage;
  readonly sentAtMs: number;
  state: RcsState;
  deliveredAtMs: number | null;
  /** Index of the suggestion that was tapped last. */
  tapped: number | null;
  /** Cancels for its pending timers: delivery, expiry, the automatic tap. */
  readonly timers: Set<() => void>;
}

/** A message as `GET /_admin/messages` shows it. */
export interface MessageView {
  readonly messageId: string;
  readonly phone: string;
  readonly agentId: string;
  /** The cardContent as it was sent; null on a text. */
  readonly card: Fields | null;
  readonly text: string | null;
  readonly suggestions: readonly string[];
  readonly state: RcsState;
  readonly tapped: number | null;
  readonly sentAt: string;
  readonly deliveredAt: string | null;
  readonly expiresAt: string | null;
  readonly trafficType: string | null;
}

const instant = (ms: number): string => new Date(ms).toISOString();
const instantOrNull = (ms: number | null): string | null => (ms === null ? null : instant(ms));

export function viewOf({ messageId, phone, agentId, message, ...kept }: StoredMessage): MessageView {
  return {
    messageId,
    phone,
    agentId,
    card: message.card?.content ?? null,
    text: message.text,
    suggestions: message.suggestions.map(({ text }) => text),
    state: kept.state,
    tapped: kept.tapped,
    sentAt: instant(kept.sentAtMs),
    deliveredAt: instantOrNull(kept.deliveredAtMs),
    expiresAt: instantOrNull(message.expiresAtMs),
    trafficType: message.trafficType,
  };
}

export function itemOf({ messageId, phone, agentId, message, ...kept }: StoredMessage): RcsItem {
  const { card } = message;
  return {
    kind: card === null ? 'text' : 'card',
    id: `${agentId}/${messageId}`,
    messageId,
    phone,
    at: instant(kept.deliveredAtMs ?? kept.sentAtMs),
    agent: agentBrand(agentId),
    state: kept.state,
    title: card?.title ?? null,
    text: card === null ? message.text : card.description,
    mediaUrl: card === null || card.fileUrl === null ? null : pictureOf(card.fileUrl),
    suggestions: message.suggestions.map(({ text }, index) => ({ index, text })),
    tapped: kept.tapped,
    expiresAt: instantOrNull(message.expiresAtMs),
  };
}

/** The latest messages; above the bound the oldest are removed and their timers cancelled. */
export class RbmMessageStore {
  readonly #byName = new Map<string, StoredMessage>();
  readonly #waiting = new Map<string, Set<StoredMessage>>();

  constructor(private readonly most: number) {}

  find(agentId: string, messageId: string): StoredMessage | undefined {
    return this.#byName.get(`${agentId}/${messageId}`);
  }

  /** Message ids are UUIDs: only a test has two agents with the same one, and gets the later message. */
  findById(messageId: string): StoredMessage | undefined {
    const found = [...this.#byName.values()].filter((kept) => kept.messageId === messageId);
    return found.at(-1);
  }

  add(kept: StoredMessage): void {
    this.#byName.set(`${kept.agentId}/${kept.messageId}`, kept);
    const waiting = this.#waiting.get(kept.phone) ?? new Set();
    this.#waiting.set(kept.phone, waiting.add(kept));
    const [oldest] = this.#byName.values();
    if (this.#byName.size > this.most && oldest !== undefined) this.#forget(oldest);
  }

  /** Ends the wait of a message. */
  endWait(kept: StoredMessage): void {
    const waiting = this.#waiting.get(kept.phone);
    waiting?.delete(kept);
    if (waiting?.size === 0) this.#waiting.delete(kept.phone);
  }

  waitingFor(phone: string): StoredMessage[] {
    return [...(this.#waiting.get(phone) ?? [])];
  }

  list(phone: string | undefined): StoredMessage[] {
    const all = [...this.#byName.values()];
    return phone === undefined ? all : all.filter((kept) => kept.phone === phone);
  }

  #forget(kept: StoredMessage): void {
    this.endWait(kept);
    cancelTimers(kept);
    this.#byName.delete(`${kept.agentId}/${kept.messageId}`);
  }
}

/** Cancels all timers of a message. */
export function cancelTimers(kept: StoredMessage): void {
  for (const cancel of kept.timers) cancel();
  kept.timers.clear();
}
