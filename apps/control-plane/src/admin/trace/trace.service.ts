import { PubSub, TOPICS } from '@countersign/bus';
import { type BindRecord, BINDS, GATEWAYS } from '@countersign/carriers/records';
import { newTraceNonce, type TraceFormat, type TraceQuestion, TraceSeal } from '@countersign/carriers/traces';
import { AuditStore } from '@countersign/events';
import { ServerKeys } from '@countersign/keys';
import { parseId, renderId, type Uuid } from '@countersign/ids';
import { Database } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { hasRight } from '../../http/admin-policy.js';
import { refuse, succeed, type Outcome } from '../../http/errors.js';
import type { Engineer } from '../crud/admin-resource.js';
import type { Plain } from '../crud/plain.js';
import { mergeCaptures } from './captures.js';
import { traceForRole } from './trace-roles.js';
import { isTraceAnswer, type TraceView, traceView } from './trace.view.js';

/** Time for gateways that hold connections of the bind to reply (contract, Admin). */
export const OWNER_TIMEOUT_MS = 5_000;
/** Time for other gateways, which may have held a connection before. */
const OTHERS_TIMEOUT_MS = 1_000;
/** Maximum number of other gateways in a request. */
const OTHERS = 100;

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
    const bindId = parseId('bind', id);
    const bind = bindId === null ? null : await BINDS.find(this.database, bindId);
    if (bind === null) return refuse('NOT_FOUND', { message: 'There is no bind with this id.' });
    const replies = await this.requestTraces(bind, format);
    if (replies === null) {
      return refuse('SERVICE_UNAVAILABLE', { message: 'A gateway that has recorded the bind did not answer in time.' });
    }
    if (hasRight(by.role, 'readPersonalData')) await this.auditRead(bind, format, by);
    if (format === 'pcap') return succeed(mergeCaptures(replies.map(({ octets }) => octets)));
    const traces = replies.flatMap(({ gatewayId, octets }) => {
      const answer: unknown = JSON.parse(octets.toString('utf8'));
      return isTraceAnswer(answer) ? [{ gatewayId, connections: answer.connections }] : [];
    });
    return succeed(traceForRole(by.role, traceView(bind, traces)));
  }

  private auditRead(bind: BindRecord, format: TraceFormat, { actor, requestId }: Engineer): Promise<void> {
    const about = { resource: 'binds', resourceId: renderId('bind', bind.id), actor, requestId };
    return this.audit.append(this.database, { ...about, action: 'read-trace', before: null, after: { format } });
  }

  /** Null when a gateway that holds a connection does not reply, or when no gateway replies. */
  private async requestTraces(bind: BindRecord, format: TraceFormat): Promise<GatewayReply[] | null> {
    const owners = new Set(bind.slots.flatMap(({ owner, held }) => (held && owner !== null ? [owner] : [])));
    const live = await GATEWAYS.list(this.database, { limit: OTHERS, startingAfter: null, ownerId: null });
    const gatewayIds = new Set([...owners, ...live.rows.map((gateway) => gateway.id)]);
    const replies = await Promise.all(
      [...gatewayIds].map(async (gatewayId) => {
        const timeoutMs = owners.has(gatewayId) ? OWNER_TIMEOUT_MS : OTHERS_TIMEOUT_MS;
        const seal = new TraceSeal(this.keys, gatewayId);
        const question: TraceQuestion = { bindId: bind.id, format, nonce: newTraceNonce() };
        const message = await this.bus.ask(TOPICS.trace(gatewayId), seal.question(question), timeoutMs);
        return { gatewayId, octets: message === null ? null : seal.openAnswer(message.octets, question) };
      }),
    );
    const received = replies.flatMap(({ gatewayId, octets }) => (octets === null ? [] : [{ gatewayId, octets }]));
    const silent = [...owners].some((owner) => !received.some(({ gatewayId }) => gatewayId === owner));
    return silent || received.length === 0 ? null : received;
  }
}
