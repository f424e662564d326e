import type { DueQuery } from '@countersign/carriers/outbound';
import { firstIdAt, type Uuid } from '@countersign/ids';
import { Inject, Injectable } from '@nestjs/common';
import { DatabaseClock } from '@countersign/postgres';
import { GATEWAY_ID } from '../injection/gateway-id.token.js';

/** Maximum messages planned in one transaction. */
const MAX_MESSAGES_PER_POLL = 100;
/** Of these, expired ones: a code that is created during a poll waits for its end. */
const MAX_EXPIRED_PER_POLL = 25;
/** Age limit of a regular poll. Sessions last minutes; older messages remain after a long stop, and full scans find them. */
const HORIZON_MS = 24 * 60 * 60 * 1_000;
const FULL_SCAN_INTERVAL_MS = 10 * 60 * 1_000;
/** Tolerated clock difference of the process that created an id. */
const CLOCK_SLACK_MS = 60_000;

/** The queries of successive polls for due messages. */
@Injectable()
export class DueQueries {
  private nextFullScanMs = -Infinity;

  constructor(
    private readonly clock: DatabaseClock,
    @Inject(GATEWAY_ID) private readonly self: Uuid,
  ) {}

  /** Reads the id range of the last day, and at intervals that of all rows, to limit the partitions read. */
  next(lapsed: Pick<DueQuery, 'inFlight' | 'mayTakeBack'>): DueQuery {
    const nowMs = this.clock.nowMs();
    const limits = { limit: MAX_MESSAGES_PER_POLL, expiredLimit: MAX_EXPIRED_PER_POLL };
    const query = { ...limits, ...lapsed, claimedBy: this.self, beforeId: firstIdAt(nowMs + CLOCK_SLACK_MS) };
    const everyExpired = nowMs >= this.nextFullScanMs;
    if (!everyExpired) return { ...query, everyExpired, fromId: firstIdAt(nowMs - HORIZON_MS) };
    this.nextFullScanMs = nowMs + FULL_SCAN_INTERVAL_MS;
    return { ...query, everyExpired, fromId: firstIdAt(0) };
  }
}
