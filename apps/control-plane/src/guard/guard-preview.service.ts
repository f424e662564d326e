import type { DestinationRule } from '@countersign/carriers/destinations';
import type { Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { ControlPlaneSettings, type OtpLimits } from '@countersign/settings';
import { Inject, Injectable } from '@nestjs/common';
import { judgeDestination, judgeTraffic, type GuardRefusal } from './guard-rules.js';
import { GuardStore } from './guard.store.js';

/** A code that might be sent. */
export interface PreviewedSend {
  /** Null: only the rules that concern all accounts are judged. */
  readonly accountId: Uuid | null;
  readonly phone: string;
  /** ISO 3166-1 alpha-2, or `001`. */
  readonly country: string;
  readonly now: Date;
}

export interface GuardPreview {
  /** Null if a code may be sent now. */
  readonly refusal: GuardRefusal | null;
  /** The rules in force that match the number. */
  readonly rules: readonly DestinationRule[];
}

/** Judges codes as the send guard does, without counting, locking or recording anything. */
@Injectable()
export class GuardPreviewService {
  private readonly limits: OtpLimits;

  constructor(
    private readonly store: GuardStore,
    @Inject(ControlPlaneSettings) { otpLimits }: Pick<ControlPlaneSettings, 'otpLimits'>,
  ) {
    this.limits = otpLimits;
  }

  async judge(db: Executor, { accountId, now, ...to }: PreviewedSend): Promise<GuardPreview> {
    if (accountId === null) {
      const destination = await this.store.readDestination(db, to, now);
      return { refusal: judgeDestination(destination), rules: destination.rules };
    }
    const send = { session: { ...to, accountId }, now };
    const known = await this.store.readSends(db, [send]);
    const destination = known.destinations.get(send);
    if (destination === undefined) throw new Error('guard preview: the destination was not read');
    const blocked = judgeDestination(destination);
    if (blocked !== null) return { refusal: blocked, rules: destination.rules };
    const { sendCounters, keys } = await this.store.peekCounters(db, [send], known);
    const sendKeys = keys.get(send);
    if (sendKeys === undefined) throw new Error('guard preview: the traffic was not read');
    return { refusal: judgeTraffic(sendCounters.trafficWith(sendKeys), this.limits), rules: destination.rules };
  }
}
