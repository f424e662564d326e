import type { ApiKeyPrincipal } from '@countersign/accounts/accounts';
import { ControlPlaneSettings } from '@countersign/settings';
import { Injectable } from '@nestjs/common';
import { refuse, succeed, type Outcome } from '../http/errors.js';
import { parseInstant } from '../http/instant.js';
import { DAY_MS, MAX_SPAN_DAYS, planUsage, startOfMonth, type Span } from './usage-window.js';
import type { UsageQuery } from './usage.query.js';
import { UsageStore } from './usage.store.js';
import { usageAnswer, type UsageReport } from './usage.view.js';

/** Creates usage reports of accounts (specification 4.6). */
@Injectable()
export class UsageService {
  constructor(
    private readonly store: UsageStore,
    private readonly settings: ControlPlaneSettings,
  ) {}

  async report(caller: ApiKeyPrincipal, query: UsageQuery): Promise<Outcome<UsageReport>> {
    const clock = await this.store.clock();
    const window = windowOf(query, clock.nowMs);
    if (!window.ok) return window;
    const plan = planUsage(window.value, clock, this.settings.retentionDays);
    const grouping = query.groupBy ?? null;
    const count = await this.store.read(caller.tenant, plan, grouping);
    return succeed(usageAnswer(plan.period, count, grouping));
  }
}

/** The window of a query. In the first millisecond of a month the default window is empty. */
function windowOf({ from, to }: UsageQuery, nowMs: number): Outcome<Span> {
  const fromMs = parseInstant(from ?? '')?.getTime() ?? startOfMonth(nowMs);
  const toMs = parseInstant(to ?? '')?.getTime() ?? nowMs;
  const field = from === undefined ? 'to' : 'from';
  if (fromMs >= toMs && (from !== undefined || to !== undefined)) {
    return refuse('VALIDATION_ERROR', { message: 'from must be before to.', field });
  }
  if (toMs - fromMs > MAX_SPAN_DAYS * DAY_MS) {
    return refuse('VALIDATION_ERROR', { message: `from and to may be ${MAX_SPAN_DAYS} days apart at most.`, field });
  }
  return succeed({ fromMs, toMs });
}
