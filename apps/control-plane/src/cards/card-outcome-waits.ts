import type { CardOutcome } from '@countersign/rcs/rules';
import type { Uuid } from '@countersign/ids';

/** What a create can hear of its card. */
export type CardOutcomeKind = CardOutcome['news'];

const WORDS: ReadonlySet<unknown> = new Set<CardOutcomeKind>(['sent', 'rcs', 'sms_fallback']);

/** More than any gateway sends in one message; further ones are left out. */
const MAX_OUTCOMES = 1_000;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The outcomes in a message; entries of another form are left out. */
export function parseCardOutcomes(message: unknown): CardOutcome[] {
  if (!Array.isArray(message)) return [];
  return message.slice(0, MAX_OUTCOMES).flatMap((each: unknown) => outcomeOf(each) ?? []);
}

function outcomeOf(value: unknown): CardOutcome | null {
  if (typeof value !== 'object' || value === null) return null;
  const { id, news }: Partial<Record<keyof CardOutcome, unknown>> = value;
  return typeof id === 'string' && UUID.test(id) && isWord(news) ? { id, news } : null;
}

const isWord = (value: unknown): value is CardOutcomeKind => WORDS.has(value);

/** One create that waits for news of its card. */
export interface CardOutcomeWait {
  /** The next thing that is heard, each once; null when that moment (of `performance.now`) comes first. */
  next(untilMs: number): Promise<CardOutcomeKind | null>;
  /** Needed in the end: until then news of this card are kept. */
  close(): void;
}

/**
 * The creates of this process that wait for news of their cards. A wait is an entry and a timer: no connection, no place
 * in a batch, no worker.
 */
export class CardOutcomeWaits {
  private readonly waits = new Map<Uuid, Wait>();
  private hurried = false;

  get size(): number {
    return this.waits.size;
  }

  has(id: Uuid): boolean {
    return this.waits.has(id);
  }

  open(id: Uuid): CardOutcomeWait {
    const wait = new Wait(this.hurried, () => void this.waits.delete(id));
    this.waits.set(id, wait);
    return wait;
  }

  /** Nobody may be waiting for some of it. */
  tell(news: readonly CardOutcome[]): void {
    for (const { id, news: word } of news) this.waits.get(id)?.hear(word);
  }

  /** For a process that stops: every wait is over, those that have not begun too. */
  hurry(): void {
    this.hurried = true;
    for (const wait of this.waits.values()) wait.hurry();
  }
}

class Wait implements CardOutcomeWait {
  private readonly heard = new Set<CardOutcomeKind>();
  private readonly unread: CardOutcomeKind[] = [];
  private wake: (() => void) | undefined;

  constructor(
    private hurried: boolean,
    readonly close: () => void,
  ) {}

  hear(word: CardOutcomeKind): void {
    if (this.heard.has(word)) return;
    this.heard.add(word);
    this.unread.push(word);
    this.wake?.();
  }

  hurry(): void {
    this.hurried = true;
    this.wake?.();
  }

  async next(untilMs: number): Promise<CardOutcomeKind | null> {
    const inMs = untilMs - performance.now();
    if (this.unread.length === 0 && !this.hurried && inMs > 0) await this.sleep(inMs);
    return this.unread.shift() ?? null;
  }

  private sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.ceil(ms));
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
