import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { withinDeadline } from './deadline.js';

/** A metric: its name without the prefix `countersign_`, what it counts, and its label names. */
export interface MetricOptions<Label extends string> {
  /** Ends in its unit: `_total` for counters, `_seconds`, `_bytes`, `_ratio` (Prometheus, metric and label naming). */
  readonly name: string;
  readonly help: string;
  /** Labels have few values each. Never a phone, an id or a text. */
  readonly labels?: readonly Label[];
}

export interface GaugeOptions<Label extends string> extends MetricOptions<Label> {
  /**
   * Read on every scrape instead of being set; after an exception or a timeout of one second the last value stays.
   */
  readonly read?: () => number | Promise<number>;
  /** As `read`, for a gauge with labels: all its values. Omitted label values disappear instead of being zero. */
  readonly readAll?: () => Iterable<Reading<Label>> | Promise<Iterable<Reading<Label>>>;
}

/** One labelled value of a gauge. */
export interface Reading<Label extends string> {
  readonly labels: Readonly<Record<Label, string>>;
  readonly value: number;
}

export interface HistogramOptions<Label extends string> extends MetricOptions<Label> {
  /** Upper edges in the metric's unit; by default from 1 ms to 10 s. */
  readonly buckets?: readonly number[];
}

const PREFIX = 'countersign_';
/** An unavailable store must not delay the other metrics. */
const READ_DEADLINE_MS = 1_000;
const LATENCY_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The metrics of one process, including Node's own. */
export class Metrics {
  readonly #registry = new Registry();

  /** `processMetrics: false` excludes Node's own metrics, for tests. */
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
          if (readAll !== undefined) setReadings(this, await withinDeadline(READ_DEADLINE_MS, readAll));
        } catch {
          // The readiness check of the same component fails on /readyz; one gauge must not break the scrape.
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

/** Replaces all values of the gauge. */
function setReadings<Label extends string>(gauge: Gauge<Label>, readings: Iterable<Reading<Label>>): void {
  gauge.reset();
  for (const { labels, value } of readings) gauge.set({ ...labels }, value);
}
