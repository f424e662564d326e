import { Injectable } from '@nestjs/common';
import { refuse, succeed, type Outcome } from '../../http/errors.js';
import { OverviewStore } from '../../usage/overview.store.js';
import { windowOf } from '../../usage/reported-window.js';
import { DAY_MS, HOUR_MS } from '../../usage/usage-window.js';
import type { Plain } from '../crud/plain.js';
import type { OverviewQuery } from './overview.query.js';
import { MAX_GROUPS, overviewAnswer, type OverviewAnswer } from './overview.view.js';

/** Creates the overview of all accounts (contract, For the console). */
@Injectable()
export class OverviewService {
  constructor(private readonly store: OverviewStore) {}

  show(query: OverviewQuery): Promise<Outcome<Plain<OverviewAnswer>>> {
    return this.store.inSnapshot(async (snapshot, clock) => {
      const window = windowOf(query, clock.nowMs, (toMs) => toMs - DAY_MS);
      if (!window.ok) return window;
      const { fromMs, toMs } = window.value;
      if (query.groupBy === 'hour' && toMs - fromMs > (MAX_GROUPS - 1) * HOUR_MS) {
        const message = `groupBy=hour takes at most ${MAX_GROUPS - 1} hours; use groupBy=day.`;
        return refuse('VALIDATION_ERROR', { message, field: 'groupBy' });
      }
      const shown = { test: query.test === 'true', grouping: query.groupBy ?? null };
      return succeed(overviewAnswer(await this.store.read(snapshot, clock, { window: window.value, ...shown }), shown));
    });
  }
}
