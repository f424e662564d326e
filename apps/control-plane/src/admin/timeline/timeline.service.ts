import type { MessageRecord } from '@countersign/carriers/messages';
import { renderId, type Uuid } from '@countersign/ids';
import { Injectable } from '@nestjs/common';
import { hasRight } from '../../http/admin-policy.js';
import { succeed, type Outcome } from '../../http/errors.js';
import type { Engineer } from '../crud/admin-resource.js';
import { AuditedReads } from '../crud/audited-reads.js';
import type { Plain } from '../crud/plain.js';
import { TraceService } from '../trace/trace.service.js';
import { pduFinder, timelineOf, type BindPdu } from './timeline.js';
import { TimelineRecords, type TimelineRecord } from './timeline.records.js';
import { type SessionTimeline, withoutPerson } from './timeline.view.js';

/** Binds whose traces are read for one timeline. */
const MAX_BINDS = 3;

/** The timelines of sessions. */
@Injectable()
export class TimelineService {
  constructor(
    private readonly reads: AuditedReads,
    private readonly records: TimelineRecords,
    private readonly traces: TraceService,
  ) {}

  /** The read is audited as that of a session. PDUs are left out when a gateway does not answer in time. */
  async show(id: string, by: Engineer): Promise<Outcome<Plain<SessionTimeline>>> {
    const view = (record: TimelineRecord) => ({ id: renderId('sess', record.id), record });
    const resource = { name: 'sessions', noun: 'session', idPrefix: 'sess', table: this.records, view };
    const found = await this.reads.find(resource, by, id, { action: 'read-timeline' });
    if (!found.ok) return found;
    const { record } = found.value;
    const timeline = timelineOf(record, pduFinder(await this.recordedPdus(record.messages, by)));
    if (hasRight(by.role, 'readPersonalData')) return succeed(timeline);
    return succeed({ ...timeline, data: timeline.data.map(withoutPerson) });
  }

  /** Without octets: with an engineer's recording of texts they contain the token of the session. */
  private async recordedPdus(messages: readonly MessageRecord[], by: Engineer): Promise<BindPdu[]> {
    const binds = messages.flatMap(({ direction, linkKind, linkId }): Uuid[] =>
      direction === 'in' && linkKind === 'bind' && linkId !== null ? [linkId] : [],
    );
    const recorded = await Promise.all(
      [...new Set(binds)].slice(0, MAX_BINDS).map(async (bindId) => {
        const pdus = await this.traces.recordedPdus(bindId, by);
        return pdus.map((pdu) => ({ bindId, pdu: { ...pdu, octets: '' } }));
      }),
    );
    return recorded.flat();
  }
}
