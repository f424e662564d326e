import { handleTick, nextTickMs, startTimers, timersWaiting } from './timers.js';
import type { LinkTimers, TimerName, TimersState } from './timers.js';

/** What setTimeout can wait; a longer wait is armed again. */
const LONGEST_DELAY_MS = 0x7fff_ffff;

interface ClockOptions {
  readonly settings: LinkTimers;
  /** When the oldest request of ours and the oldest message of the peer become overdue. */
  waiting(): { readonly answerDueMs: number | null; readonly handlerDueMs: number | null };
  onFired(timer: TimerName): void;
}

/** Keeps one real timer armed for whatever `timers` says is due next. Times are milliseconds of the monotonic clock. */
export class LinkTimerDriver {
  timers: TimersState;
  #armed: NodeJS.Timeout | null = null;
  #armedForMs = Infinity;
  #stopped = false;

  constructor(private readonly options: ClockOptions) {
    this.timers = startTimers(options.settings, this.nowMs());
  }

  nowMs(): number {
    return performance.now();
  }

  /** Call when something may be due earlier than before; what became later is noticed when the timer fires. */
  arm(): void {
    if (this.#stopped) return;
    const dueMs = nextTickMs(this.#withWaiting());
    if (dueMs >= this.#armedForMs) return;
    if (this.#armed !== null) clearTimeout(this.#armed);
    this.#armedForMs = dueMs;
    const delayMs = Math.min(LONGEST_DELAY_MS, Math.max(1, Math.ceil(dueMs - this.nowMs())));
    this.#armed = setTimeout(() => this.#tick(), delayMs);
  }

  stop(): void {
    this.#stopped = true;
    if (this.#armed !== null) clearTimeout(this.#armed);
  }

  #tick(): void {
    this.#armed = null;
    this.#armedForMs = Infinity;
    const nowMs = this.nowMs();
    this.timers = this.#withWaiting();
    for (;;) {
      const tick = handleTick(this.timers, nowMs);
      this.timers = tick.timers;
      if (tick.fired === null || this.#stopped) break;
      this.options.onFired(tick.fired);
    }
    this.arm();
  }

  #withWaiting(): TimersState {
    const { answerDueMs, handlerDueMs } = this.options.waiting();
    return timersWaiting(this.timers, answerDueMs, handlerDueMs);
  }
}
