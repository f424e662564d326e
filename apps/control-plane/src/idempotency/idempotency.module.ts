import type { ControlPlaneSettings } from '@countersign/settings';
import { type DynamicModule, Module } from '@nestjs/common';
import type { FailureLog } from '../operations/failure-log.js';
import type { Stores } from '../stores/stores.js';
import { IdempotencyQuota } from './idempotency-quota.js';
import { IdempotencyKeySweeper } from './idempotency-key.sweeper.js';
import { IdempotencyService } from './idempotency.service.js';
import { IdempotencyStore, KEPT_HOURS } from './idempotency.store.js';

export interface IdempotencyModuleOptions {
  readonly settings: ControlPlaneSettings;
  readonly stores: Stores;
  readonly failures: FailureLog;
}

@Module({})
export class IdempotencyModule {
  static over({ settings, stores, failures }: IdempotencyModuleOptions): DynamicModule {
    const store = new IdempotencyStore({ ...stores, maxBatch: settings.batchMaxCommands });
    const { idempotencyKeysPerAccount: keysPerAccount } = settings;
    const versions = stores.keys.versions.length;
    const quota = new IdempotencyQuota({ ...stores, keysPerAccount, keptHours: KEPT_HOURS, versions });
    const onError = failures.about('writing the result of an idempotent request');
    const service = new IdempotencyService({ ...stores, store, quota, onError });
    const sweeper = new IdempotencyKeySweeper({ store, onError: failures.about('deleting old idempotency keys') });
    return {
      module: IdempotencyModule,
      providers: [
        { provide: IdempotencyStore, useValue: store },
        { provide: IdempotencyService, useValue: service },
        { provide: IdempotencyKeySweeper, useValue: sweeper },
      ],
      exports: [IdempotencyService],
    };
  }
}
