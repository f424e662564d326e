import { Module } from '@nestjs/common';
import { IdempotencyQuota } from './idempotency-quota.js';
import { IdempotencyKeySweeper } from './idempotency-key.sweeper.js';
import { IdempotencyService } from './idempotency.service.js';
import { IdempotencyStore } from './idempotency.store.js';

@Module({
  providers: [IdempotencyStore, IdempotencyQuota, IdempotencyService, IdempotencyKeySweeper],
  exports: [IdempotencyService],
})
export class IdempotencyModule {}
