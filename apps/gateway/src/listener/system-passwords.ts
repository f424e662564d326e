import { systemPasswordMatches, type SmppSystem } from '@countersign/carriers/config';
import { SystemPasswordStore } from '@countersign/carriers/credentials';
import { ServerKeys } from '@countersign/keys';
import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from '@countersign/telemetry';
import { LOGGER } from '../injection/logger.token.js';

/** The passwords of systems. */
@Injectable()
export class SystemPasswords {
  constructor(
    private readonly keys: ServerKeys,
    private readonly store: SystemPasswordStore,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Takes as long for an unknown system. */
  matches(system: SmppSystem | null, password: string): boolean {
    return systemPasswordMatches(this.keys, system, password);
  }

  /** Stores the digest of a matching password under the current master key. Neither throws nor waits. */
  renewDigest(system: SmppSystem, password: string): void {
    this.store.renew(system, password).catch((err: unknown) => {
      this.logger.warn({ err }, 'password digest of a system could not be renewed; retrying at its next bind');
    });
  }
}
