import { performance } from 'node:perf_hooks';
import { withinDeadline } from './deadline.js';
import { redactText } from './redaction.js';

/** Resolves when the component works, throws when it does not. */
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

/** Timeout of one check; a component that does not answer is not ready. */
const CHECK_DEADLINE_MS = 1000;

/** The named checks of a process. Concurrent requests share one run of the checks. */
export class Readiness {
  readonly #checks: ReadonlyMap<string, Check>;
  #running: Promise<ReadinessReport> | undefined;
  #stopping = false;

  constructor(checks: Readonly<Record<string, Check>>) {
    this.#checks = new Map(Object.entries(checks));
  }

  /** Not ready from now on, whatever the checks return, so that no new work is sent to this process. */
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
