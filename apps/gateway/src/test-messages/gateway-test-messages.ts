import { TestMessageStore, type ClaimedTestMessage, type TestMessageResult } from '@countersign/carriers/test-messages';
import type { Uuid } from '@countersign/ids';
import { Database } from '@countersign/postgres';
import { Inject, Injectable } from '@nestjs/common';
import { GATEWAY_ID } from '../injection/gateway-id.token.js';

/** The test messages that this gateway sends. */
@Injectable()
export class GatewayTestMessages {
  constructor(
    @Inject(Database) private readonly database: Pick<Database, 'query'>,
    private readonly store: TestMessageStore,
    @Inject(GATEWAY_ID) private readonly self: Uuid,
  ) {}

  claim(bindIds: readonly Uuid[]): Promise<ClaimedTestMessage[]> {
    return this.store.claim(this.database, this.self, bindIds);
  }

  record(id: Uuid, result: TestMessageResult): Promise<void> {
    return this.store.record(this.database, id, this.self, result);
  }
}
