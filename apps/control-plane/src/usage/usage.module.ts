import type { ControlPlaneSettings } from '@countersign/settings';
import { type DynamicModule, Module } from '@nestjs/common';
import type { FailureLog } from '../operations/failure-log.js';
import type { Stores } from '../stores/stores.js';
import { UsageController } from './usage.controller.js';
import { UsageAggregator } from './usage.aggregator.js';
import { UsageService } from './usage.service.js';
import { UsageStore } from './usage.store.js';

export interface UsageModuleOptions {
  readonly settings: ControlPlaneSettings;
  readonly stores: Stores;
  readonly failures: FailureLog;
}

@Module({})
export class UsageModule {
  static over({ settings, stores: { database }, failures }: UsageModuleOptions): DynamicModule {
    const store = new UsageStore(database);
    const aggregator = new UsageAggregator({ database, store, onError: failures.about('folding hours of usage') });
    return {
      module: UsageModule,
      controllers: [UsageController],
      providers: [
        { provide: UsageService, useValue: new UsageService(store, settings.retentionDays) },
        { provide: UsageAggregator, useValue: aggregator },
      ],
    };
  }
}
