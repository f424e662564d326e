import { Module } from '@nestjs/common';
import { ExpirySweeper } from './expiry/expiry.sweeper.js';
import { KeyRotationWorker } from './key-rotation/key-rotation.worker.js';
import { EventQueue } from './operations/event.queue.js';
import { OperationsServer } from './operations/operations.server.js';
import { DatabaseGauges } from './operations/database.gauges.js';
import { StoreGauges } from './operations/store.gauges.js';
import { PartitionMaintenance } from './stores/partition.maintenance.js';

/** The background work of the process, and its operations port. */
@Module({
  providers: [
    EventQueue,
    StoreGauges,
    DatabaseGauges,
    OperationsServer,
    ExpirySweeper,
    PartitionMaintenance,
    KeyRotationWorker,
  ],
})
export class WorkersModule {}
