import type { CardOutcome } from '@countersign/rcs/rules';
import { isUuid, type Uuid } from '@countersign/ids';

/** The kinds of outcomes of a card. */
export type CardOutcomeKind = CardOutcome['news'];

const KINDS: ReadonlySet<unknown> = new Set<CardOutcomeKind>(['sent', 'rcs', 'sms_fallback']);

/** More than any gateway sends in one message; further ones are left out. */
const MAX_OUTCOMES = 1_000;

/** The outcomes in a message; entries of another form are left out. */
export function parseCardOutcomes(message: unknown): CardOutcome[] {
  if (!Array.isArray(message)) return [];
  return message.slice(0, MAX_OUTCOMES).flatMap((each: unknown) => outcomeOf(each) ?? []);
}

function outcomeOf(value: unknown): CardOutcome | null {
  if (typeof value !== 'object' || value === null) return null;
  const { id, news }: Partial<Record<keyof CardOutcome, unknown>> = value;
  return isUuid(id) && isKind(news) ? { id, news } : null;
}

const isKind = (value: unknown): value is CardOutcomeKind => KINDS.has(value);

/** The wait of one create for the outcomes of its card. */
export interface CardOutcomeWait {
  /** The next outcome, each kind once; null if `untilMs` (of `performance.now`) is reached first. */
  next(untilMs: number): Promise<CardOutcomeKind | null>;
  /** Must be called at the end: until then outcomes of this card are stored. */
  close(): void;
}

/**
 * The creates of this process that wait for outcomes of their cards. A wait is a map entry and a timer: it occupies no
 * connection, batch or worker.
 */
export class CardOutcomeWaits {
  private readonly waits = new Map<Uuid, Wait>();
  private ended = false;

  get size(): number {
    return this.waits.size;
  }

  has(id: Uuid): boolean {
    return this.waits.has(id);
  }

  open(id: Uuid): CardOutcomeWait {
    const wait = new Wait(this.ended, () => void this.waits.delete(id));
    this.waits.set(id, wait);
    return wait;
  }

  /** Delivers outcomes to their waits. Outcomes without a wait are ignored. */
  deliver(outcomes: readonly CardOutcome[]): void {
    for (const { id, news: kind } of outcomes) this.waits.get(id)?.add(kind);
  }

  /** Ends all waits of a stopping process, including later ones. */
  endAll(): void {
    this.ended = true;
    for (const wait of this.waits.values()) wait.end();
  }
}

class Wait implements CardOutcomeWait {
  private readonly received = new Set<CardOutcomeKind>();
  private readonly unread: CardOutcomeKind[] = [];
  private wake: (() => void) | undefined;

  constructor(
    private ended: boolean,
    readonly close: () => void,
  ) {}

  add(kind: CardOutcomeKind): void {
    if (this.received.has(kind)) return;
    this.received.add(kind);
    this.unread.push(kind);
    this.wake?.();
  }

  end(): void {
    this.ended = true;
    this.wake?.();
  }

  async next(untilMs: number): Promise<CardOutcomeKind | null> {
    const inMs = untilMs - performance.now();
    if (this.unread.length === 0 && !this.ended && inMs > 0) await this.sleep(inMs);
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
