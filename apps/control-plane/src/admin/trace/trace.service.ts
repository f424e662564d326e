import { PubSub, TOPICS } from '@countersign/bus';
import { type BindRecord, BINDS, GATEWAYS } from '@countersign/carriers/records';
import { newTraceNonce, type TraceFormat, type TraceQuestion, TraceSeal } from '@countersign/carriers/traces';
import { AuditStore } from '@countersign/events';
import { ServerKeys } from '@countersign/keys';
import { renderId, type Uuid } from '@countersign/ids';
import { Database } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { hasRight } from '../../http/admin-policy.js';
import { refuse, succeed, type Outcome } from '../../http/errors.js';
import { findBind } from '../binds/find-bind.js';
import type { Engineer } from '../crud/admin-resource.js';
import type { Plain } from '../crud/plain.js';
import { mergeCaptures } from './captures.js';
import { traceForRole } from './trace-roles.js';
import { type GatewayTrace, isTraceAnswer, type TracedPduView, type TraceView, traceView } from './trace.view.js';

/** Time for gateways that hold connections of the bind to reply (contract, Admin). */
export const OWNER_TIMEOUT_MS = 5_000;
/** Time for other gateways, which may have held a connection before. */
const OTHERS_TIMEOUT_MS = 1_000;
/** Maximum number of other gateways in a request. */
const OTHERS = 100;
/** Octets of all replies that are read; further replies count as missing. A reply has at most 4 MiB. */
const MAX_REPLY_OCTETS = 16 * 1024 * 1024;

interface GatewayReply {
  readonly gatewayId: Uuid;
  readonly octets: Buffer;
}

/** Requests the recorded PDUs of a bind from the gateways. */
@Injectable()
export class TraceService {
  constructor(
    private readonly database: Database,
    private readonly bus: PubSub,
    private readonly audit: AuditStore,
    private readonly keys: ServerKeys,
  ) {}

  /**
   * The last PDUs as JSON or as a capture file, limited to the role's rights. For a role that sees full addresses an
   * audit entry is written before the answer.
   */
  async show(id: string, format: TraceFormat, by: Engineer): Promise<Outcome<Plain<TraceView> | Buffer>> {
    const found = await findBind(this.database, id);
    if (!found.ok) return found;
    const bind = found.value;
    const replies = await this.requestTraces(bind, format);
    if (replies === null) {
      return refuse('SERVICE_UNAVAILABLE', { message: 'A gateway that has recorded the bind did not answer in time.' });
    }
    if (hasRight(by.role, 'readPersonalData')) await this.auditRead(bind, format, by);
    if (format === 'pcap') return succeed(mergeCaptures(replies.map(({ octets }) => octets)));
    return succeed(traceForRole(by.role, traceView(bind, tracesIn(replies))));
  }

  /**
   * The last PDUs of a bind, limited to the role's rights, over all its connections: those that gateways send within a
   * second. The caller writes the audit entry.
   */
  async recordedPdus(bindId: Uuid, by: Pick<Engineer, 'role'>): Promise<readonly Plain<TracedPduView>[]> {
    const bind = await BINDS.find(this.database, bindId);
    if (bind === null) return [];
    const { received } = await this.askGateways(bind, 'json', OTHERS_TIMEOUT_MS);
    const { connections } = traceForRole(by.role, traceView(bind, tracesIn(received)));
    return connections.flatMap(({ pdus }) => pdus);
  }

  private auditRead(bind: BindRecord, format: TraceFormat, { actor, requestId }: Engineer): Promise<void> {
    const about = { resource: 'binds', resourceId: renderId('bind', bind.id), actor, requestId };
    return this.audit.append(this.database, { ...about, action: 'read-trace', before: null, after: { format } });
  }

  /** Null when a gateway that holds a connection does not reply, or when no gateway replies. */
  private async requestTraces(bind: BindRecord, format: TraceFormat): Promise<GatewayReply[] | null> {
    const { owners, received } = await this.askGateways(bind, format, OWNER_TIMEOUT_MS);
    const silent = [...owners].some((owner) => !received.some(({ gatewayId }) => gatewayId === owner));
    return silent || received.length === 0 ? null : received;
  }

  private async askGateways(
    bind: BindRecord,
    format: TraceFormat,
    ownerTimeoutMs: number,
  ): Promise<{ readonly owners: ReadonlySet<Uuid>; readonly received: GatewayReply[] }> {
    const owners = new Set(bind.slots.flatMap(({ owner, held }) => (held && owner !== null ? [owner] : [])));
    const live = await GATEWAYS.list(this.database, { limit: OTHERS, startingAfter: null, ownerId: null });
    const gatewayIds = new Set([...owners, ...live.rows.map((gateway) => gateway.id)]);
    const replies = await Promise.all(
      [...gatewayIds].map(async (gatewayId) => {
        const timeoutMs = owners.has(gatewayId) ? ownerTimeoutMs : OTHERS_TIMEOUT_MS;
        const seal = new TraceSeal(this.keys, gatewayId);
        const question: TraceQuestion = { bindId: bind.id, format, nonce: newTraceNonce() };
        const message = await this.bus.ask(TOPICS.trace(gatewayId), seal.question(question), timeoutMs);
        return { gatewayId, octets: message === null ? null : seal.openAnswer(message.octets, question) };
      }),
    );
    return { owners, received: withinBound(replies) };
  }
}

/** The replies in the order of their gateways, owners first, as far as the bound allows. */
function withinBound(replies: readonly { readonly gatewayId: Uuid; readonly octets: Buffer | null }[]): GatewayReply[] {
  let left = MAX_REPLY_OCTETS;
  return replies.flatMap(({ gatewayId, octets }) => {
    if (octets === null || octets.length > left) return [];
    left -= octets.length;
    return [{ gatewayId, octets }];
  });
}

/** The traces in replies as JSON. */
const tracesIn = (replies: readonly GatewayReply[]): GatewayTrace[] =>
  replies.flatMap(({ gatewayId, octets }) => {
    const answer = jsonOf(octets);
    return isTraceAnswer(answer) ? [{ gatewayId, connections: answer.connections }] : [];
  });

/** Null for octets that no gateway sends. */
function jsonOf(octets: Buffer): unknown {
  try {
    return JSON.parse(octets.toString('utf8'));
  } catch {
    return null;
  }
}
