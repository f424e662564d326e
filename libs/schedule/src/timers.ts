/** Alarms that fall due within this time are one: what rings looks at everything that is due. */
const SLOT_MS = 50;

/** Rings when something falls due, however many things wait. */
export class Timers {
  private readonly timers = new Map<number, NodeJS.Timeout>();

  /** `ring` must not throw. */
  constructor(private readonly ring: () => void) {}

  /** Rings once that time has passed, up to 50 ms later. */
  setIn(ms: number): void {
    const slot = Math.ceil((performance.now() + ms) / SLOT_MS);
    if (this.timers.has(slot)) return;
    const timer = setTimeout(
      () => {
        this.timers.delete(slot);
        this.ring();
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
