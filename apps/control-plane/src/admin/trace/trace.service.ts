import { PubSub } from '@countersign/bus';
import { type BindRecord, BINDS, GATEWAYS } from '@countersign/carriers/records';
import { type TraceFormat, type TraceQuestion, TraceSeal, traceTopic } from '@countersign/carriers/traces';
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

/** How long the gateways that hold connections of the bind may take to answer (contract, Admin). */
export const OWNER_PATIENCE_MS = 5_000;
/** Others may have held one before, and are not waited for as long. */
const OTHERS_PATIENCE_MS = 1_000;
/** Gateways that are asked at most, beside the owners. */
const OTHERS = 100;

interface GatewayReply {
  readonly gatewayId: Uuid;
  readonly octets: Buffer;
}

/** Asks the gateways what they have recorded of a bind. */
@Injectable()
export class TraceService {
  constructor(
    private readonly database: Database,
    private readonly bus: PubSub,
    private readonly audit: AuditStore,
    private readonly keys: ServerKeys,
  ) {}

  /**
   * The last PDUs as JSON or as a capture file, with what the role may see. For a role that sees addresses in full an audit
   * entry is written before the answer.
   */
  async show(id: string, format: TraceFormat, by: Engineer): Promise<Outcome<Plain<TraceView> | Buffer>> {
    const bindId = parseId('bind', id);
    const bind = bindId === null ? null : await BINDS.find(this.database, bindId);
    if (bind === null) return refuse('NOT_FOUND', { message: 'There is no bind with this id.' });
    const replies = await this.ask(bind, format);
    if (replies === null) {
      return refuse('SERVICE_UNAVAILABLE', { message: 'A gateway that has recorded the bind did not answer in time.' });
    }
    if (hasRight(by.role, 'readPersonalData')) await this.noteRead(bind, format, by);
    if (format === 'pcap') return succeed(mergeCaptures(replies.map(({ octets }) => octets)));
    const traces = replies.flatMap(({ gatewayId, octets }) => {
      const answer: unknown = JSON.parse(octets.toString('utf8'));
      return isTraceAnswer(answer) ? [{ gatewayId, connections: answer.connections }] : [];
    });
    return succeed(traceForRole(by.role, traceView(bind, traces)));
  }

  private noteRead(bind: BindRecord, format: TraceFormat, { actor, requestId }: Engineer): Promise<void> {
    const about = { resource: 'binds', resourceId: renderId('bind', bind.id), actor, requestId };
    return this.audit.append(this.database, { ...about, action: 'read-trace', before: null, after: { format } });
  }

  /** Null when one that holds a connection now is silent, or when nobody is there at all. */
  private async ask(bind: BindRecord, format: TraceFormat): Promise<GatewayReply[] | null> {
    const owners = new Set(bind.slots.flatMap(({ owner, held }) => (held && owner !== null ? [owner] : [])));
    const live = await GATEWAYS.list(this.database, { limit: OTHERS, startingAfter: null, ownerId: null });
    const asked = new Set([...owners, ...live.rows.map((gateway) => gateway.id)]);
    const question: TraceQuestion = { bindId: bind.id, format };
    const replies = await Promise.all(
      [...asked].map(async (gatewayId) => {
        const patienceMs = owners.has(gatewayId) ? OWNER_PATIENCE_MS : OTHERS_PATIENCE_MS;
        const seal = new TraceSeal(this.keys, gatewayId);
        const message = await this.bus.ask(traceTopic(gatewayId), seal.question(question), patienceMs);
        return { gatewayId, octets: message === null ? null : seal.openAnswer(message.octets) };
      }),
    );
    const heard = replies.flatMap(({ gatewayId, octets }) => (octets === null ? [] : [{ gatewayId, octets }]));
    const silent = [...owners].some((owner) => !heard.some(({ gatewayId }) => gatewayId === owner));
    return silent || heard.length === 0 ? null : heard;
  }
}
