import type { Executor } from '@countersign/postgres';
import { ADD_REFUSALS } from './system-refusal.sql.js';

/** Refused binds under one system_id; reason and address are those of the last. */
export interface RefusedBinds {
  readonly systemId: string;
  readonly times: number;
  readonly at: Date;
  readonly reason: string;
  /** The IP address of the peer. */
  readonly address: string;
}

/** Counts refused binds of systems. */
export class SystemRefusalStore {
  /** Those of unknown system ids are left out. Each system_id once. */
  async addRefusals(db: Executor, refused: readonly RefusedBinds[]): Promise<void> {
    await db.query(ADD_REFUSALS, [
      refused.map(({ systemId }) => systemId),
      refused.map(({ times }) => times),
      refused.map(({ at }) => at),
      refused.map(({ reason }) => reason),
      refused.map(({ address }) => address),
    ]);
  }
}
