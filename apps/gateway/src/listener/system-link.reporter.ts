import { Inject, Injectable } from '@nestjs/common';
import type { BindRequest } from '@countersign/smpp/link';
import { DatabaseClock } from '@countersign/postgres';
import { throttled } from '@countersign/resilience';
import type { Logger } from '@countersign/telemetry';
import { InboundMetrics } from '../inbound/inbound.metrics.js';
import { LOGGER } from '../injection/logger.token.js';
import type { LinkMeter } from '../links/link-meter.js';
import { LinkMetrics } from '../links/link.metrics.js';
import type { Refusal } from './admission.js';
import type { Peer } from './bind-authenticator.js';
import { SystemRefusals } from './system-refusals.js';

const UNANSWERED_REPORT_MS = 60_000;

/** Logs and counts what happens to the connections of systems. */
@Injectable()
export class SystemLinkReporter {
  /** Codes since the last report. */
  #unanswered = 0;
  readonly #reportUnanswered = throttled((about) => {
    const codes = this.#unanswered;
    this.#unanswered = 0;
    this.logger.warn({ ...(about as object), unanswered: codes }, 'listener: codes got no response from a system');
  }, UNANSWERED_REPORT_MS);

  constructor(
    private readonly links: LinkMetrics,
    private readonly inbound: InboundMetrics,
    @Inject(SystemRefusals) private readonly refusals: Pick<SystemRefusals, 'record'>,
    @Inject(DatabaseClock) private readonly clock: Pick<DatabaseClock, 'nowMs'>,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** The database's time, as RFC 3339. */
  now(): string {
    return new Date(this.clock.nowMs()).toISOString();
  }

  /** A meter for the PDUs of one connection. */
  createMeter(): LinkMeter {
    return this.links.createMeter('listener');
  }

  reportMalformed({ address }: Peer, { of, reason }: { readonly of: unknown; readonly reason: string }): void {
    this.logger.debug({ address, of, reason }, 'malformed PDU');
  }

  reportRefusedBind({ systemId, bindType }: BindRequest, peer: Peer, refusal: Refusal): void {
    this.links.refusedBinds.inc({ refusal });
    // Only an existing system can have a wrong password, so peers cannot create label values.
    if (refusal === 'wrong_password') this.links.countWrongPassword(systemId);
    if (refusal !== 'unknown_system') this.refusals.record(systemId, { reason: refusal, address: peer.address });
    this.logger.warn({ systemId, bindType, ...named(peer), refusal }, 'listener: bind refused');
  }

  reportUnanswered(systemId: string, err: unknown): void {
    this.#unanswered += 1;
    this.#reportUnanswered({ systemId, err });
  }

  reportBound({ systemId, bindType }: BindRequest, peer: Peer, carrier: string): void {
    this.logger.info({ systemId, bindType, ...named(peer), carrier }, 'listener: system bound');
  }

  reportUntrusted(systemId: string, { address }: Peer): void {
    this.logger.warn(
      { systemId, address },
      'MOs of this connection are not trusted: neither its address nor a certificate proves it',
    );
  }

  /** A message of a trusted system whose row has not been read for too long. */
  countOutdated(): void {
    this.inbound.countRetryableResponse('outdated_system');
  }

  /** A message of a system that may no longer be connected. Alerts leave this reason out: an engineer has decided it. */
  countEvicted(): void {
    this.inbound.countRetryableResponse('evicted_system');
  }

  countThrottled(): void {
    this.inbound.countRetryableResponse('throttled');
  }

  /** `systemId` is undefined when the connection ended before a bind. */
  reportEnd(systemId: string | undefined, { address }: Peer, reason: string): void {
    const about = { systemId, address, reason };
    if (systemId === undefined) this.logger.debug(about, 'listener: connection ended before a bind');
    else this.logger.info(about, 'listener: system disconnected');
  }
}

/** A peer as it is logged: of a host that was called the name. */
function named({ called, ...peer }: Peer): object {
  return called === undefined ? peer : { ...peer, called: `${called.outbind.host}:${called.outbind.port}` };
}
