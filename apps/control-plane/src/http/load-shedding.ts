import { Metrics } from '@countersign/telemetry';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { RefusedRequest } from './errors.js';
import { RequestDeadline } from './request-deadline.js';
import type { RouteAccess } from './route-access.js';

/** What is refused first: reports, then new sessions, and last the calls that end a session. */
type LoadClass = 'report' | 'create' | 'session';

/**
 * Requests in progress in this process up to which one more of a class is admitted. At 4,000 requests a second a thousand are
 * answered within 250 ms; those that are admitted beyond would wait longer than callers do, and then be worked on for nobody.
 */
const MOST_IN_PROGRESS: Readonly<Record<LoadClass, number>> = { report: 250, create: 1_000, session: 2_000 };

function classOf(route: RouteAccess): LoadClass {
  if (route.access !== 'key' || route.policy === 'usage') return 'report';
  return route.policy === 'create' ? 'create' : 'session';
}

const OVERLOADED = new RefusedRequest({ code: 'SERVICE_UNAVAILABLE' });

/** Refuses requests that could not be answered in time. */
@Injectable()
export class LoadShedding {
  readonly #shed;

  constructor(
    private readonly deadline: RequestDeadline,
    @Inject(Metrics) metrics: Pick<Metrics, 'counter' | 'gauge'>,
  ) {
    const read = (): number => deadline.size;
    metrics.gauge({ name: 'requests_open', help: 'Requests without a response yet.', read });
    this.#shed = metrics.counter({
      name: 'http_requests_shed_total',
      help: 'Authorized requests answered 503 because too many were in progress, by class.',
      labels: ['class'],
    });
  }

  /** The refusal of an authorized request before it is counted as in progress; null if it is admitted. */
  judge({ routeOptions: { config } }: Pick<FastifyRequest, 'routeOptions'>): RefusedRequest | null {
    const { inProgress } = this.deadline;
    if (config.route === undefined || inProgress < MOST_IN_PROGRESS.report) return null;
    const load = classOf(config.route);
    if (inProgress < MOST_IN_PROGRESS[load]) return null;
    this.#shed.inc({ class: load });
    return OVERLOADED;
  }
}
