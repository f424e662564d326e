/**
 * Deadlines of many answers with one timer: all wait equally long, so the oldest is always first and a look every
 * now and then costs less than a timer each. What is over is told once, at most `LOOK_EVERY_MS` late.
 */
export class AnswerDeadlines {
  readonly #waiting = new Map<() => void, number>();
  readonly #timer: NodeJS.Timeout;

  constructor(
    private readonly waitMs: number,
    private readonly nowMs: () => number,
  ) {
    this.#timer = setInterval(() => this.look(), LOOK_EVERY_MS);
    this.#timer.unref();
  }

  add(onOver: () => void): void {
    this.#waiting.set(onOver, this.nowMs() + this.waitMs);
  }

  delete(onOver: () => void): void {
    this.#waiting.delete(onOver);
  }

  get size(): number {
    return this.#waiting.size;
  }

  look(): void {
    const now = this.nowMs();
    for (const [onOver, deadline] of this.#waiting) {
      if (deadline > now) return;
      this.#waiting.delete(onOver);
      onOver();
    }
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

export const LOOK_EVERY_MS = 100;
