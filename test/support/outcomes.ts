/** A call, a message or a probe, in ms of `performance.now()`. */
export interface Outcome {
  readonly startedMs: number;
  readonly endedMs: number;
  readonly isOk: boolean;
  /** The answer in words, for the counts. */
  readonly answer: string;
}

/** The outcomes during a fault. */
export interface Span {
  readonly total: number;
  readonly failed: number;
  /** From the begin of the first failed one to the end of the last. */
  readonly seconds: number;
  readonly lastFailedMs: number | null;
}

/** Records the outcomes of what is done through it. */
export class Outcomes {
  readonly all: Outcome[] = [];

  async record<Answer>(
    work: () => Promise<Answer>,
    judge: (answer: Answer) => Pick<Outcome, 'isOk' | 'answer'>,
  ): Promise<Answer> {
    const startedMs = performance.now();
    const answer = await work();
    this.all.push({ startedMs, endedMs: performance.now(), ...judge(answer) });
    return answer;
  }

  get succeeded(): number {
    return this.all.filter(({ isOk }) => isOk).length;
  }

  /** Of those that ended within these times. */
  during(fromMs: number, toMs: number): Span {
    const all = this.all.filter(({ endedMs }) => endedMs >= fromMs && endedMs <= toMs);
    const failed = all.filter(({ isOk }) => !isOk);
    const firstMs = Math.min(...failed.map(({ startedMs }) => startedMs));
    const lastMs = Math.max(...failed.map(({ endedMs }) => endedMs));
    const isAny = failed.length > 0;
    return {
      total: all.length,
      failed: failed.length,
      seconds: isAny ? (lastMs - firstMs) / 1_000 : 0,
      lastFailedMs: isAny ? lastMs : null,
    };
  }

  /** How often each answer came. */
  answers(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const { answer } of this.all) counts[answer] = (counts[answer] ?? 0) + 1;
    return counts;
  }
}
