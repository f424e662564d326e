/** Timers due within this time share one callback, which handles everything that is due. */
const SLOT_MS = 50;

/** Calls back when something is due, with one timer per slot, whatever the number of entries. */
export class Timers {
  private readonly timers = new Map<number, NodeJS.Timeout>();

  /** `onDue` must not throw. */
  constructor(private readonly onDue: () => void) {}

  /** Calls back once after that time, up to 50 ms later. */
  fireIn(ms: number): void {
    const slot = Math.ceil((performance.now() + ms) / SLOT_MS);
    if (this.timers.has(slot)) return;
    const timer = setTimeout(
      () => {
        this.timers.delete(slot);
        this.onDue();
      },
      slot * SLOT_MS - performance.now(),
    );
    this.timers.set(slot, timer.unref());
  }

  clear(): void {
    for (const timer of this.timers.values()) clearTimeout(timer);
    this.timers.clear();
  }
}
