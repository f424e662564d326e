import type { ApiKeyPrincipal } from '@countersign/accounts/accounts';
import { ControlPlaneSettings } from '@countersign/settings';
import { Injectable } from '@nestjs/common';
import { succeed, type Outcome } from '../http/errors.js';
import { windowOf } from './reported-window.js';
import { planUsage, startOfMonth } from './usage-window.js';
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
    return this.store.inSnapshot(async (snapshot) => {
      const clock = await this.store.clock(snapshot);
      const window = windowOf(query, clock.nowMs, () => startOfMonth(clock.nowMs));
      if (!window.ok) return window;
      const plan = planUsage(window.value, clock, this.settings.retentionDays);
      const grouping = query.groupBy ?? null;
      const count = await this.store.read(snapshot, caller.tenant, { plan, clock, grouping });
      return succeed(usageAnswer(plan.period, count, grouping));
    });
  }
}
