import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { withinDeadline } from './deadline.js';

/** A metric's name without the `countersign_` before it, what it counts, and the names of its labels. */
export interface MetricOptions<Label extends string> {
  /** Ends in its unit: `_total` for counters, `_seconds`, `_bytes`, `_ratio` (Prometheus, metric and label naming). */
  readonly name: string;
  readonly help: string;
  /** Labels take few values each. Never a phone, an id or a text. */
  readonly labels?: readonly Label[];
}

export interface GaugeOptions<Label extends string> extends MetricOptions<Label> {
  /** Read when the metrics are asked for, in place of being set; what it throws, or takes over a second for, leaves the last value. */
  readonly read?: () => number | Promise<number>;
  /** As `read`, for a gauge with labels: all it shows from now on. What it leaves out is gone, not zero. */
  readonly readAll?: () => Iterable<Reading<Label>> | Promise<Iterable<Reading<Label>>>;
}

/** One line of a gauge. */
export interface Reading<Label extends string> {
  readonly labels: Readonly<Record<Label, string>>;
  readonly value: number;
}

export interface HistogramOptions<Label extends string> extends MetricOptions<Label> {
  /** Upper edges in the metric's unit; by default from 1 ms to 10 s. */
  readonly buckets?: readonly number[];
}

const PREFIX = 'countersign_';
/** A store that is away must not keep the other metrics waiting. */
const READ_DEADLINE_MS = 1_000;
const LATENCY_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The metrics of one process, with Node's own beside them. */
export class Metrics {
  readonly #registry = new Registry();

  /** `processMetrics: false` leaves Node's own out, for tests. */
  constructor(options: { readonly app: string; readonly processMetrics?: boolean }) {
    this.#registry.setDefaultLabels({ app: options.app });
    if (options.processMetrics ?? true) collectDefaultMetrics({ register: this.#registry });
  }

  counter<Label extends string = never>(options: MetricOptions<Label>): Counter<Label> {
    return new Counter<Label>(this.#common(options));
  }

  gauge<Label extends string = never>(options: GaugeOptions<Label>): Gauge<Label> {
    const { read, readAll } = options;
    return new Gauge<Label>({
      ...this.#common(options),
      async collect() {
        try {
          if (read !== undefined) this.set(await withinDeadline(READ_DEADLINE_MS, read));
          if (readAll !== undefined) show(this, await withinDeadline(READ_DEADLINE_MS, readAll));
        } catch {
          // The check of the same part fails on /readyz; one gauge must not take the other metrics with it.
        }
      },
    });
  }

  histogram<Label extends string = never>(options: HistogramOptions<Label>): Histogram<Label> {
    return new Histogram<Label>({
      ...this.#common(options),
      buckets: [...(options.buckets ?? LATENCY_BUCKETS_SECONDS)],
    });
  }

  /** The exposition text and its media type. */
  async render(): Promise<{ readonly contentType: string; readonly text: string }> {
    return { contentType: this.#registry.contentType, text: await this.#registry.metrics() };
  }

  #common<Label extends string>(
    options: MetricOptions<Label>,
  ): { name: string; help: string; labelNames: Label[]; registers: Registry[] } {
    return {
      name: PREFIX + options.name,
      help: options.help,
      labelNames: [...(options.labels ?? [])],
      registers: [this.#registry],
    };
  }
}

/** These readings and no others. */
function show<Label extends string>(gauge: Gauge<Label>, readings: Iterable<Reading<Label>>): void {
  gauge.reset();
  for (const { labels, value } of readings) gauge.set({ ...labels }, value);
}
