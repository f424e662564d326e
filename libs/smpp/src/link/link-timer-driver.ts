import { handleTick, nextTickMs, startTimers, timersWaiting } from './timers.js';
import type { LinkTimers, TimerName, TimersState } from './timers.js';

/** The longest delay of setTimeout; a longer one is armed again. */
const LONGEST_DELAY_MS = 0x7fff_ffff;

interface TimerDriverOptions {
  readonly settings: LinkTimers;
  /** Deadlines of our oldest request and of the peer's oldest message. */
  waiting(): { readonly answerDueMs: number | null; readonly handlerDueMs: number | null };
  onFired(timer: TimerName): void;
}

/** Arms one setTimeout for the next due timer of `timers`. Times are milliseconds of the monotonic clock. */
export class LinkTimerDriver {
  timers: TimersState;
  #armed: NodeJS.Timeout | null = null;
  #armedForMs = Infinity;
  #stopped = false;

  constructor(private readonly options: TimerDriverOptions) {
    this.timers = startTimers(options.settings, this.nowMs());
  }

  get settings(): LinkTimers {
    return this.timers.settings;
  }

  /** Effective from now on, also for a deadline of enquire_link that is running. */
  set settings(settings: LinkTimers) {
    this.timers = { ...this.timers, settings };
    this.arm();
  }

  nowMs(): number {
    return performance.now();
  }

  /** Call when a deadline may have become earlier; a later deadline is noticed when the timer fires. */
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
