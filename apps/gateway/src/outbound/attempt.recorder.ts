import { setTimeout as delay } from 'node:timers/promises';
import { JobNotifier } from '@countersign/bus';
import { MtMessageStore, type AttemptRecord } from '@countersign/carriers/outbound';
import { Inject, Injectable } from '@nestjs/common';
import { Batcher, Database } from '@countersign/postgres';
import { throttled } from '@countersign/resilience';
import { GatewaySettings } from '@countersign/settings';
import type { Logger } from '@countersign/telemetry';
import { LOGGER } from '../injection/logger.token.js';

const MAX_QUEUED_RECORDS = 10_000;
/** Time limit of one try to record an outcome; the record is retried while its code is valid. */
const RECORD_DEADLINE_MS = 10_000;
const RECORD_RETRY_MS = 500;

type RecordListener = (records: readonly AttemptRecord[]) => void;

/** Records the outcomes of attempts, those of the same moment in one transaction. */
@Injectable()
export class AttemptRecorder {
  private readonly records: Batcher<AttemptRecord, null>;
  private readonly listeners: RecordListener[] = [];
  private readonly report = throttled((err) =>
    this.logger.warn({ err }, 'attempt recorder: outcomes could not be recorded; retrying'),
  );

  constructor(
    private readonly database: Database,
    private readonly mtMessages: MtMessageStore,
    private readonly notifier: JobNotifier,
    { batchMaxCommands: maxBatch }: GatewaySettings,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.records = new Batcher({
      name: 'outbound.record',
      run: (records) => this.recordBatch(records),
      keysOf: ({ id }) => [id],
      limits: { maxBatch, maxInFlight: 2, maxQueued: MAX_QUEUED_RECORDS, deadlineMs: RECORD_DEADLINE_MS },
    });
  }

  /** Registers a listener called after the commit of records. Must neither throw nor block. */
  onRecorded(listener: RecordListener): void {
    this.listeners.push(listener);
  }

  /** Retries until `endsMs` of the monotonic clock. False: not recorded. Never rejects. */
  async recordAttempt(record: AttemptRecord, endsMs: number): Promise<boolean> {
    for (;;) {
      try {
        await this.records.add(record);
        return true;
      } catch (err) {
        this.report(err);
        if (performance.now() + RECORD_RETRY_MS > endsMs) return false;
        await delay(RECORD_RETRY_MS);
      }
    }
  }

  /** Resolves when every record is committed. */
  drain(): Promise<void> {
    return this.records.drain();
  }

  private async recordBatch(records: readonly AttemptRecord[]): Promise<null[]> {
    const eventIds = await this.database.transaction((tx) => this.mtMessages.recordAttempts(tx, records));
    if (eventIds.length > 0) this.notifier.notify(eventIds);
    for (const listener of this.listeners) listener(records);
    return records.map(() => null);
  }
}
