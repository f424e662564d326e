import { performance } from 'node:perf_hooks';
import { withinDeadline } from './deadline.js';
import { redactText } from './redaction.js';

/** Resolves where the part it looks at can do its work, throws where it cannot. */
export type Check = () => void | Promise<void>;

export interface CheckResult {
  readonly ok: boolean;
  readonly latencyMs: number;
  readonly error?: string;
}

export interface ReadinessReport {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, CheckResult>>;
}

/** One check may take this long; a part that does not answer is a part that does not work. */
const CHECK_DEADLINE_MS = 1000;

/** The named checks of a process. Questions that come while one is being answered share its answer. */
export class Readiness {
  readonly #checks: ReadonlyMap<string, Check>;
  #running: Promise<ReadinessReport> | undefined;
  #stopping = false;

  constructor(checks: Readonly<Record<string, Check>>) {
    this.#checks = new Map(Object.entries(checks));
  }

  /** From now on not ready, whatever the checks say, so that no new work is sent here. */
  stop(): void {
    this.#stopping = true;
  }

  report(): Promise<ReadinessReport> {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #run(): Promise<ReadinessReport> {
    const results = await Promise.all(
      [...this.#checks].map(async ([name, check]) => [name, await runCheck(check)] as const),
    );
    const stopping: Record<string, CheckResult> = this.#stopping
      ? { shutdown: { ok: false, latencyMs: 0, error: 'shutting down' } }
      : {};
    const checks = { ...Object.fromEntries(results), ...stopping };
    return { ready: Object.values(checks).every(({ ok }) => ok), checks };
  }
}

async function runCheck(check: Check): Promise<CheckResult> {
  const startedMs = performance.now();
  const latencyMs = (): number => Math.round(performance.now() - startedMs);
  try {
    await withinDeadline(CHECK_DEADLINE_MS, check);
    return { ok: true, latencyMs: latencyMs() };
  } catch (error) {
    const message = error instanceof Error ? error.message : 'failed';
    return { ok: false, latencyMs: latencyMs(), error: redactText(message) };
  }
}
