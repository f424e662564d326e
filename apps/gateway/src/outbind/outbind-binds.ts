import type { Bind } from '@countersign/carriers/config';
import { outbindPassword } from '@countersign/carriers/credentials';
import { ServerKeys } from '@countersign/keys';
import { credentialsEqual } from '@countersign/smpp/link';
import { Injectable } from '@nestjs/common';
import { BindsService } from '../binds/binds.service.js';
import { ConnectionAdmitter } from '../listener/connection.admitter.js';
import { GuessLimits } from '../listener/guess-limits.js';
import { NetworkSet } from '../listener/networks.js';
import type { ReceivedOutbind } from '../listener/received-outbind.js';
import { judgeOutbind, type OutbindVerdict } from './judge-outbind.js';

/** The binds that wait for an outbind, as last read: at most 2 s old while the database is reachable. */
@Injectable()
export class OutbindBinds {
  #binds: readonly Bind[] | null = null;
  #networks = NetworkSet.of([]);
  #credentials = '';

  constructor(
    binds: BindsService,
    admitter: ConnectionAdmitter,
    private readonly guesses: GuessLimits,
    private readonly keys: ServerKeys,
  ) {
    binds.onRows((rows) => this.applyRows(rows));
    admitter.admitAlso((address) => this.#networks.includes(address));
  }

  /** The binds that this outbind may use. */
  judge({ systemId, password, peer }: Pick<ReceivedOutbind, 'systemId' | 'password' | 'peer'>): OutbindVerdict<Bind> {
    if (this.#binds === null) return { accepted: false, refusal: 'unavailable' };
    if (this.guesses.isLockedOut(peer)) return { accepted: false, refusal: 'shut_out' };
    const named = this.#binds.filter(({ outbind }) => outbind?.systemId === systemId);
    return judgeOutbind(named, peer, (bind) => this.passwordMatches(bind, password));
  }

  /** Counts a failed outbind as a failed bind of its address, and returns the delay of its refusal in milliseconds. */
  recordFailure({ peer }: Pick<ReceivedOutbind, 'peer'>): number {
    return this.guesses.recordFailure(null, peer);
  }

  private passwordMatches(bind: Bind, password: string): boolean {
    const agreed = outbindPassword(this.keys, bind);
    return agreed !== null && credentialsEqual(agreed, password);
  }

  private applyRows(rows: readonly Bind[]): void {
    const binds = rows.filter(({ outbind }) => outbind !== null);
    this.#networks = NetworkSet.of(
      binds.filter(({ enabled }) => enabled).map(({ outbind }) => outbind?.allowedCidrs ?? []),
    );
    const credentials = JSON.stringify(
      binds.map(({ id, outbind, outbindPasswordSealed: sealed }) => [
        id,
        outbind?.systemId,
        sealed?.toString('base64'),
      ]),
    );
    // A carrier that was refused until its outbind was configured may connect again at once.
    if (this.#binds !== null && credentials !== this.#credentials) this.guesses.clearFailures();
    this.#credentials = credentials;
    this.#binds = binds;
  }
}
