import os from 'node:os';
import {
  BindLeaseStore,
  GatewayStore,
  type BindSlotName,
  type ClaimedLease,
  type GatewayIdentity,
  type HeldConnection,
  type LeaseSurvey,
  type OutbindRow,
} from '@countersign/carriers/leases';
import type { Uuid } from '@countersign/ids';
import { Inject, Injectable } from '@nestjs/common';
import { Database } from '@countersign/postgres';
import { GATEWAY_ID } from '../injection/gateway-id.token.js';
import { GATEWAY_VERSION } from './version.js';

/** The row of this gateway, and the leases on bind connections that it holds. */
@Injectable()
export class GatewayLeaseStore {
  private readonly self: GatewayIdentity;

  constructor(
    @Inject(Database) private readonly database: Pick<Database, 'query' | 'transaction'>,
    @Inject(GatewayStore) private readonly gateways: Pick<GatewayStore, 'recordHeartbeat' | 'deleteGateway'>,
    @Inject(BindLeaseStore)
    private readonly leases: Pick<
      BindLeaseStore,
      'survey' | 'claimSlots' | 'claimOutbindSlot' | 'renewLeases' | 'releaseLeases'
    >,
    @Inject(GATEWAY_ID) id: Uuid,
  ) {
    this.self = { id, host: os.hostname(), version: GATEWAY_VERSION };
  }

  /** All connections of all gateways. */
  survey(): Promise<LeaseSurvey> {
    return this.leases.survey(this.database);
  }

  /** Claims the free ones of these slots. */
  claimSlots(slots: readonly BindSlotName[]): Promise<ClaimedLease[]> {
    return this.leases.claimSlots(this.database, this.self.id, slots);
  }

  /** Claims a free connection of a bind whose carrier has sent outbind; null when there is none. */
  claimOutbindSlot(bind: OutbindRow): Promise<ClaimedLease | null> {
    return this.leases.claimOutbindSlot(this.database, this.self.id, bind);
  }

  /**
   * Renews the gateway's row and these leases, with the status and events of their connections, in one transaction. Returns the keys of
   * the leases that are still held. `held` and `isStopping` are read in the transaction.
   */
  renewLeases(held: () => readonly HeldConnection[], isStopping: () => boolean): Promise<ReadonlySet<string>> {
    return this.database.transaction(async (tx) => {
      const gatewayWritten = this.gateways.recordHeartbeat(tx, this.self, isStopping());
      const [renewed] = await Promise.all([this.leases.renewLeases(tx, this.self.id, held()), gatewayWritten]);
      return renewed;
    });
  }

  async releaseLeases(last: readonly HeldConnection[]): Promise<void> {
    await this.leases.releaseLeases(this.database, this.self.id, last);
  }

  async deleteGateway(): Promise<void> {
    await this.gateways.deleteGateway(this.database, this.self.id);
  }
}
