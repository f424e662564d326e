import type { SmppSystem } from '@countersign/carriers/config';
import { Injectable } from '@nestjs/common';
import type { ConnectedPeer } from './admission.js';
import { BindLockout, LAST_ANSWER_MS } from './bind-lockout.js';
import { areRestricting } from './networks.js';
import { SystemGuesses } from './system-guesses.js';

type Peer = Pick<ConnectedPeer, 'address' | 'certificateNames' | 'called'>;

/** Limits guesses of passwords, per peer (`BindLockout`) and per system (`SystemGuesses`). */
@Injectable()
export class GuessLimits {
  constructor(
    private readonly lockout: BindLockout,
    private readonly guesses: SystemGuesses,
  ) {}

  isLockedOut({ address }: Peer): boolean {
    return this.lockout.isLockedOut(address);
  }

  /** Whether the password of a bind from this peer may be compared now. */
  mayComparePassword(system: SmppSystem, { address, certificateNames, called }: Peer): boolean {
    const proven =
      called !== undefined ||
      areRestricting(system.allowedCidrs) ||
      certificateNames?.includes(system.systemId) === true;
    return proven || this.guesses.mayComparePassword(system, address);
  }

  /** Counts a wrong password, or an unknown system, and returns the delay of the refusal in milliseconds. */
  recordFailure(system: SmppSystem | null, { address }: Peer): number {
    const delayMs = this.lockout.recordFailure(address);
    if (system === null) return delayMs;
    return this.guesses.recordFailure(system) ? LAST_ANSWER_MS : delayMs;
  }

  recordBind(system: SmppSystem, { address }: Peer): void {
    this.guesses.recordBind(system, address);
  }

  recordDisconnect(system: SmppSystem, { address }: Peer): void {
    this.guesses.recordDisconnect(system, address);
  }

  /** A password or a system was created or changed: peers may try again. The failures of other systems stay. */
  clearFailures(): void {
    this.lockout.clearFailures();
  }
}
