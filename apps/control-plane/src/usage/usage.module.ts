import { Module } from '@nestjs/common';
import { UsageController } from './usage.controller.js';
import { FunnelGauges } from './funnel.gauges.js';
import { OverviewStore } from './overview.store.js';
import { UsageAggregator } from './usage.aggregator.js';
import { UsageFoldStore } from './usage-fold.store.js';
import { UsageService } from './usage.service.js';
import { UsageStore } from './usage.store.js';

@Module({
  controllers: [UsageController],
  providers: [UsageStore, UsageFoldStore, UsageService, UsageAggregator, OverviewStore, FunnelGauges],
  exports: [OverviewStore],
})
export class UsageModule {}
