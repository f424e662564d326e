import { Module } from '@nestjs/common';
import { UsageController } from './usage.controller.js';
import { UsageAggregator } from './usage.aggregator.js';
import { UsageService } from './usage.service.js';
import { UsageStore } from './usage.store.js';

@Module({ controllers: [UsageController], providers: [UsageStore, UsageService, UsageAggregator] })
export class UsageModule {}
